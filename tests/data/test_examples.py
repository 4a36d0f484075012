import io
import struct
import zlib

import lmdb
import numpy as np
import pytest
import tensorflow_datasets as tfds
from helpers import SHARED, random_images, write_images
from PIL import Image

from srmcmc_tf.config.config import Config
from srmcmc_tf.data import examples, pipeline, pixels, tfds_source
from srmcmc_tf.errors import UserError
from srmcmc_tf.models import schedules


def folder_config(path, **settings):
    settings = {"image_size": 8, "channels": 1, "batch_size": 8, **settings}
    return Config(dataset="folder", data_dir=str(path), **settings)


def take(dataset, n):
    return np.stack(list(dataset.take(n).as_numpy_iterator()))


def test_an_epoch_shows_every_image_once_and_the_next_in_another_order():
    images = np.arange(40, dtype=np.uint8).reshape(40, 1, 1, 1)
    x = take(pipeline.batches(images, batch_size=10, sigma=0.0), 8)
    shown = np.round((x.reshape(2, 40) + 1) * 127.5).astype(int)
    assert sorted(shown[0]) == sorted(shown[1]) == list(range(40))
    assert list(shown[0]) != list(shown[1])


def test_batches_go_across_the_end_of_an_epoch():
    images = np.arange(7, dtype=np.uint8).reshape(7, 1, 1, 1)
    x = take(pipeline.batches(images, batch_size=5, sigma=0.0), 7)
    shown = np.round((x.ravel() + 1) * 127.5).astype(int)
    assert sorted(np.bincount(shown)) == [5] * 7


def test_batch_t_does_not_depend_on_where_one_starts():
    images = random_images(30)
    whole = take(pipeline.batches(images, batch_size=8, seed=3), 9)
    later = take(pipeline.batches(images, batch_size=8, seed=3, start=5), 4)
    np.testing.assert_array_equal(whole[5:], later)


def test_the_parts_of_a_batch_make_the_whole():
    images = random_images(30)
    make = dict(batch_size=12, seed=3, start=1)
    whole = take(pipeline.batches(images, **make), 4)
    parts = [
        take(pipeline.batches(images, **make, part=(i, 3)), 4) for i in range(3)
    ]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)
    with pytest.raises(ValueError, match="5 equal parts"):
        pipeline.batches(images, **make, part=(0, 5))


def test_seeds_change_order_and_noise():
    images = random_images(30)
    a, b = (
        take(pipeline.batches(images, batch_size=8, seed=s), 2) for s in (0, 1)
    )
    assert not np.array_equal(a, b)


def test_noise_has_the_standard_deviation_sigma_and_follows_its_schedule():
    images = np.full([16, 32, 32, 3], 128, np.uint8)
    sigma = schedules.Anneal(0.2, after=1, half_life=1)
    x = take(pipeline.batches(images, batch_size=16, sigma=sigma), 4)
    np.testing.assert_allclose(
        x.std(axis=(1, 2, 3, 4)), [0.2, 0.2, 0.1, 0.05], rtol=0.02
    )


def test_digits_are_real_and_split_without_overlap():
    config = Config(image_size=8, channels=1, n_examples=1597, n_left_out=200)
    observed, left_out = examples.load(config)
    assert observed.shape == (1597, 8, 8, 1) and left_out.shape == (
        200,
        8,
        8,
        1,
    )
    assert observed.max() == 255 and observed.min() == 0
    every = np.concatenate([observed, left_out]).reshape(1797, 64)
    assert len(np.unique(every, axis=0)) == 1797


def test_the_cut_does_not_depend_on_the_seed_of_the_run():
    digits = [
        Config(image_size=8, channels=1, n_examples=99, seed=s) for s in (1, 2)
    ]
    a, b = map(examples.load, digits)
    np.testing.assert_array_equal(a.observed, b.observed)


def test_central_square_is_taken_and_shrunk_without_aliasing():
    wide = np.zeros([16, 48, 3], np.uint8)
    wide[:, 16:32] = np.indices([16, 16]).sum(axis=0)[..., None] % 2 * 200
    square = pixels.square(wide, (8, 8, 3))
    assert square.shape == (8, 8, 3)
    np.testing.assert_allclose(square, 100, atol=15)  # the mean, not 0 or 200


def test_grey_and_colour_are_made_of_each_other():
    colour = random_images(1, 8, 3)[0]
    assert pixels.square(colour, (8, 8, 1)).shape == (8, 8, 1)
    grey = pixels.square(random_images(1)[0], (8, 8, 3))
    np.testing.assert_array_equal(grey[..., 0], grey[..., 2])


def test_folder_gives_its_images_and_the_second_time_the_cache(
    tmp_path, monkeypatch
):
    images = random_images(50)
    write_images(tmp_path / "a", images[:25])
    write_images(tmp_path / "b", images[25:])
    first = examples.load(folder_config(tmp_path))
    assert len(first.observed) == 40 and len(first.left_out) == 10
    together = np.concatenate(first).reshape(50, -1)
    assert sorted(map(bytes, together)) == sorted(
        map(bytes, images.reshape(50, -1))
    )

    def never(*args):
        raise AssertionError("read again")

    monkeypatch.setattr(pixels, "square", never)
    second = examples.load(folder_config(tmp_path))
    np.testing.assert_array_equal(first.observed, second.observed)


def test_a_changed_folder_is_read_again(tmp_path):
    write_images(tmp_path, random_images(20))
    examples.load(folder_config(tmp_path))
    write_images(tmp_path, random_images(30))
    assert sum(map(len, examples.load(folder_config(tmp_path)))) == 30


def test_a_broken_file_is_named_counted_and_skipped(tmp_path, caplog):
    write_images(tmp_path, random_images(199))
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    images = examples.load(folder_config(tmp_path))
    assert sum(map(len, images)) == 199
    out = caplog.text
    assert "broken.jpg" in out and "1 of 200" in out


def hollow_png(width, height):
    """A PNG that claims a size and has few pixels."""

    def chunk(kind, content):
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + pixels


def test_no_broken_file_gets_through_and_none_stops_the_reading(
    tmp_path, caplog
):
    write_images(tmp_path, random_images(590))
    whole = io.BytesIO()
    Image.fromarray(random_images(1, 64, 3)[0]).save(whole, "JPEG")
    broken = {
        "random.jpg": np.random.default_rng(0).bytes(5000),
        "cut.jpg": whole.getvalue()[:-400],
        "cut.png": (tmp_path / "0000.png").read_bytes()[:60],
        "no_pixels.png": hollow_png(0, 0),
        "huge.png": hollow_png(60_000, 60_000),
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    # Not broken, only of other kinds: they are converted.
    for mode in ("RGBA", "CMYK", "P", "I;16", "1"):
        suffix = "tif" if mode == "CMYK" else "png"
        Image.new(mode, (9, 7)).save(tmp_path / f"{len(mode)}_{mode}.{suffix}")
    images = examples.load(folder_config(tmp_path))
    assert sum(map(len, images)) == 595
    out = caplog.text
    assert all(name in out for name in broken) and "5 of 600" in out


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_more_than_one_broken_file_in_a_hundred_stops(tmp_path, content):
    write_images(tmp_path, random_images(100))
    png = (tmp_path / "0000.png").read_bytes()
    for i in range(2):  # None: a PNG cut short
        (tmp_path / f"bad{i}.png").write_bytes(
            png[:60] if content is None else content
        )
    with pytest.raises(UserError, match="bad1.png.*more than 1 in 100"):
        examples.load(folder_config(tmp_path))


def test_fewer_images_than_a_batch_stop(tmp_path):
    write_images(tmp_path, random_images(5))
    with pytest.raises(
        UserError, match="5 files.*1 of them left out.*--batch_size=8"
    ):
        examples.load(folder_config(tmp_path))


def test_a_missing_or_empty_folder_is_named(tmp_path):
    with pytest.raises(UserError, match="no such directory"):
        examples.load(folder_config(tmp_path / "none"))
    with pytest.raises(UserError, match="holds no files"):
        examples.load(folder_config(tmp_path))
    with pytest.raises(UserError, match="needs --data_dir"):
        examples.load(folder_config(""))


def png(image):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("inside", ["", "bedroom_train_lmdb"])
def test_lsun_is_read_from_its_lmdb(tmp_path, inside):
    images = random_images(30, 8, 3)
    database = lmdb.open(str(tmp_path / inside), map_size=2**24)
    with database.begin(write=True) as transaction:
        for i, image in enumerate(images):
            transaction.put(f"{i:08x}".encode(), png(image))
    database.close()
    config = Config(
        dataset="lsun_bedroom",
        data_dir=str(tmp_path),
        image_size=8,
        batch_size=8,
    )
    read = np.concatenate(examples.load(config)).reshape(30, -1)
    assert sorted(map(bytes, read)) == sorted(
        map(bytes, images.reshape(30, -1))
    )


@pytest.mark.parametrize("name", ["celeb_a", "celeb_a_128", "lsun_bedroom"])
def test_a_folder_stands_in_for_data_sets_that_are_hard_to_get(tmp_path, name):
    write_images(tmp_path, random_images(20, 8, 3), "jpg")
    config = Config(
        dataset=name, data_dir=str(tmp_path), image_size=8, batch_size=8
    )
    assert len(examples.load(config).observed) == 16


def prepare(name, directory, images, monkeypatch):
    """Has TFDS itself write a data set of these images under a real name."""
    builder = tfds.builder(name, data_dir=directory)

    def example(feature, image):
        if isinstance(feature, tfds.features.Image):
            return image
        if isinstance(feature, tfds.features.FeaturesDict):
            return {k: example(f, image) for k, f in feature.items()}
        return "" if isinstance(feature, tfds.features.Text) else 0

    def splits(self, *args):
        features = self.info.features
        return {
            "train": ((i, example(features, x)) for i, x in enumerate(images))
        }

    monkeypatch.setattr(type(builder), "_split_generators", splits)
    builder.download_and_prepare()


@pytest.mark.parametrize(
    "name, shape",
    [
        ("mnist", (28, 28, 1)),
        ("fashion_mnist", (28, 28, 1)),
        ("cifar10", (32, 32, 3)),
        ("celeb_a", (218, 178, 3)),
    ],
)
def test_tfds_sets_are_read_under_their_names(
    name, shape, tmp_path, monkeypatch
):
    images = [np.full(shape, 4 * i, np.uint8) for i in range(50)]
    prepare(name, tmp_path, images, monkeypatch)
    config = Config(
        dataset=name,
        data_dir=str(tmp_path),
        n_examples=30,
        n_left_out=10,
        channels=shape[2],
        batch_size=8,
    )
    observed, left_out = examples.load(config)
    assert observed.shape == (30, 32, 32, shape[2]) and len(left_out) == 10
    levels = np.concatenate([observed, left_out])[:, 0, 0, 0] / 4
    assert len(set(levels)) == 40  # forty different ones of the fifty


@pytest.mark.parametrize("name", ["mnist", "cifar10", "celeb_a"])
def test_a_failed_download_says_what_to_put_where(name, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no route to host")

    monkeypatch.setattr(tfds_source.socket, "create_connection", refuse)
    (tmp_path / "downloads").mkdir()
    config = Config(dataset=name, data_dir=str(tmp_path), batch_size=8)
    with pytest.raises(UserError) as error:
        examples.load(config)
    assert "no route to host" in str(error.value)
    assert str(tmp_path / "downloads" / "manual") in str(error.value)


def test_missing_lsun_says_what_to_download():
    with pytest.raises(UserError, match="bedroom_train_lmdb.zip"):
        examples.load(Config(dataset="lsun_bedroom"))


def test_real_faces_are_read_from_the_shared_archive(tmp_path):
    archive = SHARED / "data" / "celeb_a_5000.tar"
    if not archive.exists():
        pytest.skip(f"no {archive}; set SRMCMC_SHARED")
    import tarfile

    with tarfile.open(archive) as tar:
        for member in [m for m in tar if m.isfile()][:50]:
            tar.extract(member, tmp_path, filter="data")
    config = Config(dataset="celeb_a", data_dir=str(tmp_path), batch_size=8)
    images = examples.load(config)
    assert images.observed.shape == (40, 32, 32, 3)
    assert 60 < images.observed.mean() < 180


def test_a_damaged_cache_is_read_anew(tmp_path, cache):
    write_images(tmp_path, random_images(20))
    first = examples.load(folder_config(tmp_path))
    (file,) = (cache / "srmcmc_tf").iterdir()
    file.write_bytes(file.read_bytes()[:99])
    np.testing.assert_array_equal(
        examples.load(folder_config(tmp_path)).observed, first.observed
    )


def test_a_data_dir_for_the_embedded_digits_is_a_mistake(tmp_path):
    with pytest.raises(UserError, match="--dataset=folder"):
        examples.load(Config(image_size=8, channels=1, data_dir=str(tmp_path)))


def test_batches_of_floats_are_refused():
    with pytest.raises(ValueError, match="uint8"):
        pipeline.batches(np.zeros([64, 8, 8, 1], np.float32))
