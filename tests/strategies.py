"""What hypothesis gives to the readers of files: damaged ones, of all kinds."""

import json

from hypothesis import strategies as st

# Any value of JSON, and what Python's writer adds to it: NaN and infinity.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(), x),
    max_leaves=5,
)


def changed(sound, fewest=0):
    """Objects like `sound`, with other values or fewer names, as JSON."""
    names = st.sampled_from(sorted(sound))
    return st.builds(
        lambda values, lost: json.dumps(
            {n: v for n, v in {**sound, **values}.items() if n not in lost}
        ),
        st.dictionaries(names, VALUES, min_size=fewest, max_size=3),
        st.sets(names, max_size=1),
    )


def damaged(text):
    """The bytes of a text, some of them replaced or cut off."""
    content = text.encode()
    return st.builds(
        lambda i, new, gone: content[:i] + new + content[i + gone :],
        st.integers(0, len(content) - 1),
        st.binary(max_size=4),
        st.integers(0, 5) | st.just(len(content)),
    )
