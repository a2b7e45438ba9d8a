/**
 * Makes the program in dist/ from src/ by esbuild: modules with the packages in them, and what the browser loads.
 * docs/decisions.md (18) says why.
 */
import { execFileSync } from 'node:child_process'
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { notices } from './notices.mjs'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const DIST = resolve(ROOT, 'dist')

/** All in dist/ itself, as src/package-files.ts expects. Worker threads are started by their file. */
const ENTRY_POINTS = {
  cli: 'src/cli.ts',
  index: 'src/embedded-service.ts',
  'parse-worker': 'src/markdown/parse-worker.ts',
  'report-worker': 'src/runners/reports/report-worker.ts',
  'render-worker': 'src/rendering/render-worker.ts',
  'program-process-main': 'src/platform/program-process-main.ts',
  'scripted-agent': 'src/demo/scripted-agent.ts',
}

/**
 * Packages that have files of their own beside them, or are seldom used, stay outside. zod is in the bundle all the same:
 * the Agent Client Protocol's SDK has it as a peer, which npm and pnpm would install unasked, and yarn would not.
 */
const manifest = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8'))
const { zod: _, ...external } = { ...manifest.dependencies, ...manifest.optionalDependencies }

await rm(DIST, { recursive: true, force: true })
const program = await build({
  absWorkingDir: ROOT,
  entryPoints: ENTRY_POINTS,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys(external),
  // for packages in CommonJS: a module has no `require`
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
})
/** What src/package-files.ts loads at its first use. */
const lazy = await build({
  absWorkingDir: ROOT,
  entryPoints: {
    yaml: 'yaml',
    'gray-matter': 'gray-matter',
    'js-yaml': './node_modules/js-yaml/index.js',
    // its main module cannot be bundled
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  // gray-matter uses the same
  alias: { 'js-yaml': './js-yaml.cjs' },
  external: ['./js-yaml.cjs'],
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
})
const pages = await build({
  absWorkingDir: ROOT,
  entryPoints: [
    { in: 'src/web/client/main.ts', out: 'console' },
    { in: 'src/web/style/main.css', out: 'console' },
  ],
  outdir: 'dist/web/assets',
  tsconfig: 'src/web/client/tsconfig.json',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
  metafile: true,
})
const metafiles = [program, lazy, pages].map(({ metafile }) => metafile)
await writeDeclarations('embedded-service')
await writeFile(resolve(DIST, 'NOTICES'), await notices(ROOT, metafiles))
await chmod(resolve(DIST, 'cli.js'), 0o755)

/** Writes the types of a module that needs none of another module. */
async function writeDeclarations(name) {
  const only = ['--declaration', '--emitDeclarationOnly', '--isolatedDeclarations', '--noResolve']
  const target = ['--target', 'es2022', '--module', 'nodenext', '--outDir', DIST]
  const args = [resolve(ROOT, `src/${name}.ts`), '--noCheck', ...only, ...target]
  const compiler = resolve(ROOT, 'node_modules/typescript/bin/tsc')
  // where no tsconfig.json is: the compiler takes a file or a project, not both
  execFileSync(process.execPath, [compiler, ...args], { cwd: tmpdir(), stdio: 'inherit' })
  await rename(resolve(DIST, `${name}.d.ts`), resolve(DIST, 'index.d.ts'))
}
