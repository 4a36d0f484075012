"""Downloads the archive of the 2015 Inception network, once, and checks it."""

import gzip
import hashlib
import http.client
import io
import pathlib
import tarfile
import urllib.request
import zlib

from tqdm import tqdm

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import atomic, cache

ARCHIVE = "inception-2015-12-05.tgz"
GRAPH = "classify_image_graph_def.pb"
URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/image/"
    f"imagenet/{ARCHIVE}"
)
MD5 = "e6bb154e85f5d4331c22abcddb5dcf31"  # of the graph inside


def archive(url: str = URL, md5: str = MD5) -> pathlib.Path:
    """The path of the archive in the cache; downloads it if it is missing.

    Only a complete archive that contains the right graph is kept.

    Raises:
        UserError: without a network, or if something else was downloaded.
    """
    path = cache.cache_dir() / ARCHIVE
    if path.exists():
        return path
    remedy = (
        "give the path of a copy (inception= in Python, --inception=PATH in "
        f"commands): {ARCHIVE}, {GRAPH} or an npz of its weights"
    )
    try:
        content = _fetch(url)
        found = hashlib.md5(graph(content, url)).hexdigest()
    except (OSError, http.client.HTTPException, UserError) as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
        raise UserError(
            "FID, KID and IS need the Inception network of 2015, and its "
            f"download from {url} failed ({reason}): try again, or {remedy}"
        ) from None
    if found != md5:
        raise UserError(
            f"{url} contains a different graph (MD5 {found}, expected {md5}); "
            f"it was not kept: {remedy}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(path, content)
    return path


def graph(content: bytes, source: object) -> bytes:
    """Extracts the frozen graph from an archive.

    Args:
        content: of the archive.
        source: its path or URL, for the error message.
    """
    try:
        # Decompressed completely, because only then is the checksum verified.
        content = gzip.decompress(content)
        with tarfile.open(fileobj=io.BytesIO(content)) as files:
            member = files.extractfile(GRAPH)
            if member is None:
                raise KeyError(f"{GRAPH} is not a file")
            return member.read()
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        zlib.error,
        tarfile.TarError,
    ) as error:
        raise UserError(
            f"{source} is not a complete archive that contains {GRAPH}: {error}"
        ) from None


# Not `keras.utils.get_file`: it has no timeout, keeps what a killed process
# left as complete, and can check the archive only, not the graph inside.
def _fetch(url: str) -> bytes:
    """The content of a URL; `OSError` if it is shorter than announced."""
    chunks = []
    with urllib.request.urlopen(url, timeout=20) as response:
        total = int(response.headers.get("Content-Length") or 0)
        bar = tqdm(total=total, desc=ARCHIVE, unit="B", unit_scale=True)
        with bar:
            while chunk := response.read(1 << 20):
                chunks.append(chunk)
                bar.update(len(chunk))
    content = b"".join(chunks)
    if len(content) < total:
        raise OSError(
            f"connection closed after {len(content):,} of {total:,} bytes"
        )
    return content
