"""Downloads the archive of the 2015 Inception network, once, and checks it."""

import gzip
import hashlib
import http.client
import io
import pathlib
import tarfile
import zlib

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache, download

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

    def check(file: pathlib.Path) -> None:
        found = hashlib.md5(graph(file.read_bytes(), url)).hexdigest()
        if found != md5:
            raise UserError(f"it is a different graph, MD5 {found}, not {md5}")

    try:
        with download.exclusive(path.parent):
            download.fetch(url, path, check=check)
    except (OSError, http.client.HTTPException, UserError) as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
        raise UserError(
            "FID, KID and IS need the Inception network of 2015, and its "
            f"download from {url} failed ({reason}): try again, or give "
            f"--inception=PATH: {ARCHIVE}, {GRAPH} or an npz of its weights"
        ) from None
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
