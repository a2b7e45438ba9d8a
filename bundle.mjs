/**
 * Makes what runs, in dist/, from src/, with the packages in it. Why, and what it gains:
 * docs/decisions/0011-the-program-is-bundled.md.
 */
import { chmod, copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'
import { compile } from './bundle/compile.mjs'
import { makeScripts } from './bundle/scripts.mjs'
import { notices } from './notices.mjs'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const SRC = resolve(ROOT, 'src')

/**
 * What is loaded by `import()` while the program runs, and is loaded together: a file that is read costs
 * more than text in it that is not used. The last one takes in all others.
 */
const PARTS = {
  service: /^serve\.ts$/,
  site: /^web\/site\.ts$/,
  reference: /^web\/reference\//,
  openapi: /^http\/openapi\//,
  check: /^check\//,
  reading: /^cli\/(reading\/|commands\/(gate|list|proof-list|show)\.ts$)/,
  exchange: /^cli\/commands\/(export|import)\.ts$/,
  session: /^cli\/commands\/session-text\.ts$/,
  text: /^cli\/text\//,
  settings: /^workspace\/settings\/places\.ts$/,
  baselines: /^state\/baselines\.ts$/,
  setup: /^(demo|doctor|init|trust)\/|^cli\/commands\/setup\.ts$/,
  mcp: /^cli\/mcp\//,
  console: /^cli\//,
}

/** Started by their path, so each is one file, below dist where its module is below src. */
const WORKERS = [
  'src/markdown/parse-worker.ts',
  'src/runners/reports/report-worker.ts',
  'src/web/text/markdown-worker.ts',
]

/**
 * What has files of its own beside it, or is seldom used, is a dependency, and not in the bundle. zod is both: the
 * Agent Client Protocol's SDK asks for it as a peer, which npm and pnpm would install unasked, and yarn would not.
 */
const manifest = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8'))
const { zod: _, ...outside } = { ...manifest.dependencies, ...manifest.optionalDependencies }
const EXTERNAL = Object.keys(outside)

/** The name of a module of ours, as in `cli/console.ts`. */
const nameOf = (path) => relative(SRC, path).split(sep).join('/')
const wordOf = (name) => name.replace(/\W/g, '_')
const IMPORT = /\bimport\('(\.[^']+)'\)/g

function partOf(name) {
  const part = Object.keys(PARTS).find((each) => PARTS[each].test(name))
  if (part === undefined)
    throw new Error(`${name} is imported by import(), but is in none of PARTS`)
  return part
}

async function membersOfParts() {
  const members = new Map(Object.keys(PARTS).map((part) => [part, new Set()]))
  for (const each of await readdir(SRC, { recursive: true })) {
    if (!/\.tsx?$/.test(each)) continue
    const path = resolve(SRC, each)
    for (const [, specifier] of (await readFile(path, 'utf8')).matchAll(IMPORT)) {
      const name = nameOf(resolve(dirname(path), specifier))
      members.get(partOf(name)).add(name)
    }
  }
  return members
}

/**
 * A module finds files from where it is. In the bundle it says where it would be without one, so that
 * this holds: in the same folder below dist as in src. All that is bundled lies in dist itself.
 */
function inPlace(text, name) {
  const place = JSON.stringify(`./${name.replace(/\.tsx?$/, '.js')}`)
  return text.replaceAll('import.meta.url', `new URL(${place}, bundleUrl).href`)
}

/** What a module of ours loads at its first use by a `require` of its own is in the bundle all the same. */
function withPackages(text) {
  if (!/^const require = createRequire\(/m.test(text)) return text // it has a use of its own for it
  return text.replace(/^(import \{ createRequire \}|const require = createRequire\().*$/gm, '')
}

/** `import('./one.ts')` gives the module as it is in the part that it is loaded with. */
function inParts(text, path) {
  return text.replace(IMPORT, (_, specifier) => {
    const name = nameOf(resolve(dirname(path), specifier))
    return `import('part:${partOf(name)}').then((part) => part.${wordOf(name)})`
  })
}

/** The types of a module, which needs none of another. */
async function declarations(path) {
  const text = await readFile(resolve(ROOT, path), 'utf8')
  const { outputText, diagnostics } = ts.transpileDeclaration(text, { fileName: path })
  if (diagnostics.length > 0)
    throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})))
  return outputText
}

const members = await membersOfParts()

const parts = {
  name: 'parts',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]src[\\/].*\.tsx?$/ }, async ({ path }) => ({
      contents: inParts(inPlace(withPackages(await readFile(path, 'utf8')), nameOf(path)), path),
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    }))
    onResolve({ filter: /^part:/ }, ({ path }) => ({ path: path.slice(5), namespace: 'part' }))
    onLoad({ filter: /.*/, namespace: 'part' }, ({ path: part }) => ({
      contents: [...members.get(part)]
        .map((name) => `export * as ${wordOf(name)} from './src/${name}'`)
        .join('\n'),
      resolveDir: ROOT,
    }))
  },
}

const options = {
  ...{ absWorkingDir: ROOT, outdir: 'dist', outbase: 'src', bundle: true, metafile: true },
  ...{ platform: 'node', target: 'node20.19', external: EXTERNAL },
  ...{ legalComments: 'none', logLevel: 'warning' },
}

await rm(resolve(ROOT, 'dist'), { recursive: true, force: true })
const { metafile } = await build({
  ...options,
  entryPoints: [
    { in: 'src/cli.ts', out: 'main' },
    { in: 'src/embedded-service.ts', out: 'embedded' },
  ],
  ...{ format: 'esm', splitting: true },
  chunkNames: '[name]-[hash]',
  plugins: [parts],
})
await makeScripts(ROOT, metafile)
for (const name of ['cli', 'index', 'load']) {
  await copyFile(resolve(ROOT, `bundle/${name}.cjs`), resolve(ROOT, `dist/${name}.js`))
}
await writeFile(resolve(ROOT, 'dist/index.d.ts'), await declarations('src/embedded-service.ts'))
await writeFile(resolve(ROOT, 'dist/package.json'), '{ "type": "commonjs" }\n')
const workers = await build({
  ...{ ...options, format: 'cjs', entryPoints: WORKERS },
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
})
const pages = await build({
  ...{ absWorkingDir: ROOT, outdir: 'dist/web/assets', bundle: true, minify: true, metafile: true },
  ...{ format: 'esm', target: 'es2022', logLevel: 'warning' },
  entryPoints: [
    { in: 'src/web/client/main.ts', out: 'console' },
    { in: 'src/web/style/main.css', out: 'console' },
  ],
})
const all = [metafile, workers.metafile, pages.metafile]
await writeFile(resolve(ROOT, 'dist/NOTICES'), await notices(ROOT, all))
await chmod(resolve(ROOT, 'dist/cli.js'), 0o755)
await compile(ROOT)
if (process.env.META) await writeFile(process.env.META, JSON.stringify(metafile))
