#!/usr/bin/env bash
# Makes sure that a C++ compiler (Inductor needs one) and Chromium (the browser tests need one) are there.
# Usage: system.sh [compiler] [chromium]. Silent where nothing is missing.
set -euo pipefail

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get update -qq
  as_root apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

want_compiler() {
  if command -v g++ >/dev/null || command -v clang++ >/dev/null; then return; fi
  echo 'Installing a C++ compiler.'
  if command -v apt-get >/dev/null; then
    apt_install g++
  elif [ "$(uname)" = Darwin ]; then
    echo 'Run "xcode-select --install", then try again.' >&2
    exit 1
  else
    echo 'Install g++ or clang++, then try again.' >&2
    exit 1
  fi
}

want_chromium() {
  if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then return; fi
  local own
  own=$(python -c 'from playwright.sync_api import sync_playwright as p
with p() as d: print(d.chromium.executable_path)')
  if [ -x "$own" ]; then return; fi
  echo 'Installing Chromium.'
  # Ubuntu's package only fetches a snap; there and on macOS Playwright brings its own.
  if [ -r /etc/debian_version ] && ! grep -qi '^ID=ubuntu' /etc/os-release; then
    apt_install chromium fonts-dejavu-core
  elif [ "$(uname)" = Darwin ]; then
    python -m playwright install chromium
  else
    python -m playwright install --with-deps chromium
  fi
}

# A function named like the program would itself be what `command -v` finds.
for what in "$@"; do "want_$what"; done
