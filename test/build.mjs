/**
 * Makes plain JavaScript of TypeScript files, with what they import, so that Node starts them without a loader. Each
 * module keeps the `import.meta.url` of its source; types are the concern of `npm run check`.
 */
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

export const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** Not in `.tap`, of which tap reports no coverage. */
export const BUILT = join(ROOT, '.built-tests')

/** What has files beside it, or must be there once, or is large and seldom needed, stays outside. */
const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
const { zod: _, ...dependencies } = manifest.dependencies
const EXTERNAL = [
  ...Object.keys({ ...dependencies, ...manifest.optionalDependencies }),
  'tap',
  'tap-parser',
  'fast-check',
  'oxc-parser',
  'esbuild',
  'playwright-core',
  'ajv',
  'ajv-formats',
  '@seriousme/openapi-schema-validator',
  'casefile',
  'casefile-api',
  'openapi-fetch',
]

/**
 * `paths` are from the root: the programs are below `folder` at the same paths, with `.js`, or by the names that they have.
 * They share what they import.
 */
export async function buildPrograms(paths, folder) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: paths,
    outbase: ROOT,
    outdir: folder,
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: EXTERNAL,
    define: {
      'import.meta.url': 'sourceUrl',
      'import.meta.dirname': 'sourceFolder',
    },
    plugins: [{ name: 'source-url', setup: keepSourceUrl }],
    // for packages in CommonJS: a module has no `require`
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
  })
}

/** In one line, for the places in errors. */
function keepSourceUrl({ onLoad }) {
  onLoad({ filter: /\.(tsx?|m?js)$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8')
    if (!text.includes('import.meta.')) return undefined
    const url = JSON.stringify(pathToFileURL(path).href)
    const folder = JSON.stringify(dirname(path))
    const names = `const sourceUrl = ${url}, sourceFolder = ${folder};`
    return { contents: `${names}${text}`, loader: extname(path).slice(1).replace('mjs', 'js') }
  })
}
