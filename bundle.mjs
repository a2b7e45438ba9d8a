/**
 * Makes the program in dist/ from src/ by esbuild: modules with the packages in them, and what the browser loads.
 * docs/decisions.md says why.
 */
import { execFileSync } from 'node:child_process'
import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { notices } from './notices.mjs'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const DIST = resolve(ROOT, 'dist')

/** All in dist/ itself, as src/package-files.ts expects. */
const PROGRAM = {
  cli: 'src/cli.ts',
  index: 'src/embedded-service.ts',
}
/** Threads and processes of their own, which are started by their file. */
const WORKERS = {
  'parse-worker': 'src/markdown/parse-worker.ts',
  'report-worker': 'src/runners/reports/report-worker.ts',
  'call-check-main': 'src/runners/call-check-main.ts',
  'render-worker': 'src/rendering/render-worker.ts',
  'program-process-main': 'src/platform/program-process-main.ts',
  'end-left-main': 'src/runners/process/end-left-main.ts',
  'scripted-agent': 'src/demo/scripted-agent.ts',
}

/**
 * Packages that have files of their own beside them, or are seldom used, stay outside. zod is in the bundle all the same:
 * the Agent Client Protocol's SDK has it as a peer, which npm and pnpm would install unasked, and yarn would not.
 */
const manifest = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8'))
const { zod: _, ...external } = { ...manifest.dependencies, ...manifest.optionalDependencies }

await rm(DIST, { recursive: true, force: true })
const options = {
  absWorkingDir: ROOT,
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys(external),
  // for packages in CommonJS: a module has no `require`
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  legalComments: 'none',
  minifyWhitespace: true,
  lineLimit: 120,
  logLevel: 'warning',
  metafile: true,
}
/** What is in memory before a part that `import()` loads, by the file that loads it; the first that fits. */
const LOADED_BEFORE = [
  [/^src\/(cli|cli\/run-program)\.ts$/, ['src/main.ts']],
  [
    /^src\/cli\/(?!commands\/(serve|agent\/mcp)\.ts)/,
    ['src/cli/commands.ts', 'src/cli/start-nothing-of-runs.ts'],
  ],
  [/^src\/http\//, ['src/http/app.ts', 'src/cli/start-nothing-of-runs.ts']],
  [
    /^src\/(web|runners)\//,
    ['src/web/site.ts', 'src/serve.ts', 'src/cli/start-nothing-of-runs.ts'],
  ],
  [/^src\//, ['src/cli/start-nothing-of-runs.ts']],
]

/**
 * esbuild makes a file for each set of lazy parts that share a module: some 200, of which a command would load half, at
 * 0.5 ms each. What is in memory before a part is one file, as each part imports all of it.
 */
const lazyParts = {
  name: 'lazy parts',
  setup({ onResolve, onLoad }) {
    const namespace = 'lazy'
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir, importer }) =>
      kind === 'dynamic-import'
        ? {
            path: relative(ROOT, resolve(resolveDir, path)),
            suffix: `?${LOADED_BEFORE.find(([files]) => files.test(relative(ROOT, importer)))[1]}`,
            namespace,
          }
        : null,
    )
    onLoad({ filter: /./, namespace }, ({ path, suffix }) => ({
      contents: [
        ...suffix
          .slice(1)
          .split(',')
          .map((file) => `import './${file}'`),
        `export * from './${path}'`,
      ].join('\n'),
      resolveDir: ROOT,
    }))
  },
}
/** The folders of agents, which src/runners/agents/registry.ts loads by name, are in the file of the registry. */
const agentFolders = {
  name: 'agent folders',
  setup({ onLoad }) {
    onLoad({ filter: /\/agents\/registry\.ts$/ }, async ({ path }) => {
      const folders = (await readdir(dirname(path), { recursive: true }))
        .filter((file) => /^\w+\/agent\.ts$/.test(file))
        .map((file) => file.slice(0, -'/agent.ts'.length))
      const text = await readFile(path, 'utf8')
      return {
        contents: [
          ...folders.map((name) => `import * as ${name} from './${name}/agent.ts'`),
          `const folderModules = { ${folders} }`,
          text.replace(/import\(.*?agent\.ts`\)/, 'folderModules[name]'),
        ].join('\n'),
        loader: 'ts',
      }
    })
  },
}
const program = await build({
  ...options,
  entryPoints: PROGRAM,
  splitting: true,
  plugins: [lazyParts, agentFolders],
})
const workers = await build({ ...options, entryPoints: WORKERS })
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
  minifyWhitespace: true,
  lineLimit: 120,
  logLevel: 'warning',
  metafile: true,
})
/** What the browser loads: what the pages share, then what each has in its folder, so a page is named nowhere else. */
const WEB = resolve(ROOT, 'src/web')
const own = (await readdir(WEB, { recursive: true }))
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
const scripts = own.filter((path) => /^[\w-]+\/client\.tsx?$/.test(path))
const styles = own.filter((path) => /^(?!style\/)[\w-]+\/[\w-]+\.css$/.test(path))
const ENTRIES = {
  ts: [
    "import './client/main.ts'",
    ...scripts.map((path, at) => `import { start as start${at} } from './${path}'`),
    ...scripts.map((_, at) => `start${at}()`),
  ],
  css: ['style/main.css', ...styles].map((path) => `@import './${path}';`),
}
const entries = {
  name: 'entries',
  setup({ onResolve, onLoad }) {
    const namespace = 'console'
    onResolve({ filter: /^console\.(?:ts|css)$/ }, ({ path }) => ({ path, namespace }))
    onLoad({ filter: /./, namespace }, ({ path }) => {
      const loader = path.split('.')[1]
      return { contents: ENTRIES[loader].join('\n'), loader, resolveDir: WEB }
    })
  },
}
const pages = await build({
  absWorkingDir: ROOT,
  entryPoints: [
    { in: 'console.ts', out: 'console' },
    { in: 'console.css', out: 'console' },
  ],
  plugins: [entries],
  outdir: 'dist/web/assets',
  tsconfig: 'src/web/client/tsconfig.json',
  alias: { 'hono/jsx/dom/jsx-runtime': './src/web/client/jsx-runtime.ts' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
  metafile: true,
})
const metafiles = [program, workers, lazy, pages].map(({ metafile }) => metafile)
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
