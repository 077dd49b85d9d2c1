// Makes the folders of the npm packages from programs that are built already:
//
//   node npm/build.cjs OUT linux-x64-gnu=PATH [darwin-arm64=PATH ...]
//
// OUT gets `gsd-tools` and one folder for each program given. `npm pack` and `npm publish` do the rest.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');

/** By package: what npm compares with the machine. */
const PLATFORMS = {
  'linux-x64-gnu': { os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-x64-musl': { os: 'linux', cpu: 'x64', libc: 'musl' },
  'linux-arm64-gnu': { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'linux-arm64-musl': { os: 'linux', cpu: 'arm64', libc: 'musl' },
  'darwin-x64': { os: 'darwin', cpu: 'x64' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64' },
  'win32-x64': { os: 'win32', cpu: 'x64' },
  'win32-arm64': { os: 'win32', cpu: 'arm64' },
};

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}

/** The keys of `[package]` in Cargo.toml that npm wants too. */
function facts() {
  const text = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8');
  const table = text.slice(text.indexOf('[package]')).split(/\n\[/)[0];
  const optional = (key) => table.match(new RegExp(`^${key} = "([^"]*)"`, 'm'))?.[1];
  const value = (key) => optional(key) ?? fail(`Cargo.toml has no \`${key}\``);
  const repository = optional('repository');
  const addresses = repository
    ? { repository, homepage: optional('homepage') ?? repository, bugs: `${repository}/issues` }
    : {};
  const keywords = [...(table.match(/^keywords = \[(.*)\]/m)?.[1] ?? '').matchAll(/"([^"]*)"/g)].map((word) => word[1]);
  return { version: value('version'), description: value('description'), license: value('license'), keywords, addresses };
}

function write(folder, manifest, files) {
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  for (const [name, from] of Object.entries(files)) {
    const to = path.join(folder, name);
    fs.copyFileSync(from, to);
    if (name.startsWith('bin/')) fs.chmodSync(to, 0o755);
  }
}

const [out, ...given] = process.argv.slice(2);
if (!out || given.length === 0) fail('usage: node npm/build.cjs OUT PLATFORM=PATH ...');
const { version, description, license, keywords, addresses } = facts();
const common = { version, license, ...addresses, publishConfig: { access: 'public' } };
const optionalDependencies = {};

for (const word of given) {
  const at = word.indexOf('=');
  const [name, program] = [word.slice(0, at), word.slice(at + 1)];
  const platform = PLATFORMS[name];
  if (at < 0 || !platform) fail(`\`${word}\` is not PLATFORM=PATH; platforms: ${Object.keys(PLATFORMS).join(' ')}`);
  if (!fs.existsSync(program)) fail(`there is no program at \`${program}\``);
  const file = platform.os === 'win32' ? 'bin/gsd-tools.exe' : 'bin/gsd-tools';
  const manifest = {
    name: `@gsd-tools/${name}`,
    ...common,
    description: `The program gsd-tools for ${name}`,
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc ? { libc: [platform.libc] } : {}),
    files: ['bin'],
    // The program must be a file on the disk, in package managers that keep archives too.
    preferUnplugged: true,
  };
  write(path.join(out, name), manifest, { [file]: program });
  optionalDependencies[manifest.name] = version;
}

write(
  path.join(out, 'gsd-tools'),
  {
    name: 'gsd-tools',
    ...common,
    description,
    keywords,
    bin: { 'gsd-tools': 'bin/gsd-tools.cjs' },
    files: ['bin'],
    engines: { node: '>=18' },
    optionalDependencies,
  },
  { 'bin/gsd-tools.cjs': path.join(__dirname, 'launcher.cjs'), 'README.md': path.join(root, 'README.md') },
);

if (!addresses.repository) process.stdout.write('Cargo.toml has no `repository`: the packages name no address\n');
const missing = Object.keys(PLATFORMS).filter((name) => !(`@gsd-tools/${name}` in optionalDependencies));
process.stdout.write(`${version}: ${given.length + 1} packages in ${out}\n`);
if (missing.length > 0) process.stdout.write(`not among them: ${missing.join(' ')}\n`);
