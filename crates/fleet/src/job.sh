#!/bin/sh
# One node of a fleet. This script is the same for every fleet: the program and its
# arguments come as arguments, so that no shell reads a text of anybody's.
exec "$@"
