"""The commands of bin/: flags in, calls of the library, lines out."""
