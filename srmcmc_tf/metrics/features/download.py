"""The archive of the 2015 Inception network: fetched once, and checked."""

import gzip
import hashlib
import http.client
import io
import os
import tarfile
import urllib.request

from tqdm import tqdm

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import cache, npz

ARCHIVE = "inception-2015-12-05.tgz"
GRAPH = "classify_image_graph_def.pb"
URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/image/"
    f"imagenet/{ARCHIVE}"
)
# Of the graph in it.
MD5 = "e6bb154e85f5d4331c22abcddb5dcf31"


def archive(url=URL, md5=MD5):
    """The path of the archive in the cache, downloaded where it is missing.

    Only a complete archive with the right graph in it gets its name.
    `UserError` where there is no network, or something else came.
    """
    path = cache.cache_dir() / ARCHIVE
    if path.exists():
        return path
    help = f"give --inception=PATH: {ARCHIVE}, {GRAPH} or an npz of its weights"
    try:
        content = _fetch(url)
        found = hashlib.md5(graph(content, url)).hexdigest()
    except (OSError, http.client.HTTPException, UserError) as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0][:100]
        raise UserError(
            f"FID, KID and IS need the Inception network of 2015, and its "
            f"download from {url} failed ({reason}): try again, or {help}"
        ) from None
    if found != md5:
        raise UserError(
            f"{url} gave another graph (MD5 {found}, not {md5}); it was not "
            f"kept: {help}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)
    return path


def graph(content, path):
    """The frozen graph's bytes out of those of its archive."""
    try:
        # All of it, because only then its checksum is looked at.
        content = gzip.decompress(content)
        with tarfile.open(fileobj=io.BytesIO(content)) as files:
            return files.extractfile(GRAPH).read()
    except (*npz.DAMAGED, KeyError, tarfile.TarError) as error:
        raise UserError(
            f"{path} is not a whole archive with {GRAPH} in it: {error}"
        ) from None


def _fetch(url):
    """The bytes at a URL; OSError where fewer come than were promised."""
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
        raise OSError(f"it broke off after {len(content):,} of {total:,} bytes")
    return content
