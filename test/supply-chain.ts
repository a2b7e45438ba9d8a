import { readdirSync, readFileSync } from 'node:fs'
import { satisfies } from 'semver'
import { t } from 'tap'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))
const lock: Record<string, Locked> = JSON.parse(read('package-lock.json')).packages

interface Locked {
  version: string
  license?: string
  integrity?: string
  dev?: boolean
  hasInstallScript?: boolean
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** What npm installs with the package: no development tools, and nothing that the bundle has. */
const installed = Object.entries(lock).filter(([path, { dev }]) => path !== '' && !dev)
const MOST_INSTALLED = 60

/** Licences that ask for no more than that they come along. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]

/** Versions with a known hole that another package would bring without package.json's `overrides`. */
const KNOWN_BAD = { 'js-yaml': '<3.15.2 || >=4.0.0 <4.1.1' }

t.test('the lock file names exactly what package.json asks for, each by its digest', async (t) => {
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'license']
  t.match(
    lock[''],
    Object.fromEntries(kinds.map((kind) => [kind, manifest[kind]])),
    'npm ci would refuse it otherwise',
  )
  for (const [path, { version, integrity }] of Object.entries(lock)) {
    if (path !== '')
      t.match({ version, integrity }, { version: /^\d/, integrity: /^sha512-/ }, path)
  }
})

t.test(`fewer than ${MOST_INSTALLED} packages are installed with it`, async (t) => {
  t.ok(installed.length < MOST_INSTALLED, `${installed.length}`)
})

t.test(
  'what a dependency has for a peer is a dependency too, as yarn installs no other',
  async (t) => {
    const wanted = installed.flatMap(([, { peerDependencies = {}, peerDependenciesMeta = {} }]) =>
      Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional),
    )
    t.ok(wanted.length > 0, 'there is one, else this test is not needed')
    for (const name of wanted) t.ok(manifest.dependencies[name], name)
  },
)

/** Packages that the user of this project chose. */
const CHOSEN = {
  src: [
    'hono',
    '@hono/node-server',
    'gray-matter',
    'remark',
    'unified',
    'chokidar',
    'proper-lockfile',
  ],
  test: ['tap'],
}

t.test('the packages that were chosen are declared and imported', async (t) => {
  for (const [folder, names] of Object.entries(CHOSEN)) {
    const files = readdirSync(new URL(`../${folder}`, import.meta.url), {
      recursive: true,
      encoding: 'utf8',
    })
    const texts = files
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => read(`${folder}/${name}`))
    for (const name of names) {
      t.ok(manifest.devDependencies[name] ?? manifest.dependencies[name], name)
      const imported = new RegExp(
        `^import (?!type).*from '${name}'$|= lazyPackage\\('${name}'\\)`,
        'm',
      )
      t.ok(
        texts.some((text) => imported.test(text)),
        `${name} is imported in ${folder}/`,
      )
    }
  }
})

t.test('no package needs a script of its own to be installed', async (t) => {
  const withScript = Object.entries(lock).filter(([, { hasInstallScript }]) => hasInstallScript)
  // esbuild's script only replaces a file that starts its program by the program; that of SQLite builds it where
  // the package has no binary for the system, which then needs Node.js 22.13. CI installs without either.
  t.strictSame(
    withScript.map(([path]) => path),
    ['node_modules/@photostructure/sqlite', 'node_modules/esbuild'],
  )
  t.notOk(manifest.scripts.install ?? manifest.scripts.postinstall ?? manifest.scripts.preinstall)
})

t.test('every licence is permissive, and those of the bundle come along', async (t) => {
  for (const [path, { license }] of installed) t.ok(PERMISSIVE.includes(license ?? ''), path)
  const bundled = [...read('dist/NOTICES').matchAll(/^-{80}\n(\S+) (\S+)\nLicence: (.*)\n/gm)]
  const names = bundled.map(([, name]) => name)
  for (const name of ['hono', 'remark-parse', 'yaml', 'zod']) t.ok(names.includes(name), name)
  for (const [, name, version, license] of bundled) {
    t.ok(PERMISSIVE.includes(license ?? ''), `${name} ${version}`)
  }
})

t.test('nothing with a known hole is installed or bundled', async (t) => {
  for (const [name, bad] of Object.entries(KNOWN_BAD)) {
    const found = Object.entries(lock).filter(([path]) => path.endsWith(`node_modules/${name}`))
    t.ok(found.length > 0, `${name} is still there, else this test is not needed`)
    for (const [path, { version }] of found) t.notOk(satisfies(version, bad), `${path} ${version}`)
  }
})
