/** Lets Node load TypeScript, by esbuild; each line keeps its place, for errors and coverage. */
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transform } from 'esbuild'

export async function load(url, context, next) {
  if (!/^file:.*\.tsx?$/.test(url)) return next(url, context)
  const path = fileURLToPath(url)
  const { code } = await transform(await readFile(path, 'utf8'), {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    sourcefile: path,
    sourcemap: 'inline',
    target: 'node20.19',
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
  })
  return { format: 'module', source: code, shortCircuit: true }
}

// this module is the hook too, where it is loaded again in the thread of the loaders
if (isMainThread) register(import.meta.url)
