#!/usr/bin/env node
// Starts the native program for this machine. npm puts this in the PATH; what an install of ours writes into the folders
// of hosts calls the native program, never this.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/** The packages that may hold a program for this machine, best first. */
function candidates() {
  const machine = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return [machine];
  const header = process.report?.getReport?.().header ?? {};
  // A program linked with musl runs anywhere; one linked with glibc does not.
  const libraries = header.glibcVersionRuntime ? ['gnu', 'musl'] : ['musl'];
  return libraries.map((library) => `${machine}-${library}`);
}

function program() {
  if (process.env.GSD_TOOLS_BINARY) return process.env.GSD_TOOLS_BINARY;
  const file = process.platform === 'win32' ? 'gsd-tools.exe' : 'gsd-tools';
  for (const name of candidates()) {
    try {
      return path.join(path.dirname(require.resolve(`@gsd-tools/${name}/package.json`)), 'bin', file);
    } catch {
      // That package is not installed.
    }
  }
  return undefined;
}

function fail(...lines) {
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  process.exit(1);
}

const found = program();
if (!found) {
  const wanted = candidates()[0];
  fail(
    `Error: the package \`@gsd-tools/${wanted}\` with the program for this machine is not installed`,
    '  hint: npm skips it with `--omit=optional`, or if the lock file was made on another machine; reinstall with',
    '        `npm install --include=optional`, or with npx: `npx --include=optional gsd-tools`',
    '  hint: to use a program you built yourself, set GSD_TOOLS_BINARY to its path',
  );
}

try {
  fs.accessSync(found, fs.constants.X_OK);
} catch {
  try {
    fs.chmodSync(found, 0o755);
  } catch {
    // Starting it reports what is wrong.
  }
}

const child = spawn(found, process.argv.slice(2), { stdio: 'inherit', windowsHide: false });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
  try {
    process.on(signal, () => {
      // A terminal sends these to both of us.
      if (!(process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal);
    });
  } catch {
    // Not every system has every signal.
  }
}
child.on('error', (error) => fail(`Error: cannot start \`${found}\`: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.exitCode = 128 + (os.constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
});
