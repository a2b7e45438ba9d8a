/** Lets Node load TypeScript, by esbuild; each line keeps its place, for errors and coverage. */
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transform } from 'esbuild'

export async function load(url, context, next) {
  if (!/^file:.*\.tsx?$/.test(url)) return next(url, context)
  // tap sees there what a test loads, which its watching needs
  const { source } = await next(url, { ...context, format: 'module' })
  const { code } = await transform(String(source), {
    loader: url.endsWith('x') ? 'tsx' : 'ts',
    sourcefile: fileURLToPath(url),
    sourcemap: 'inline',
    target: 'node20.19',
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
  })
  return { format: 'module', source: code }
}

// this module is the hook too, where it is loaded again in the thread of the loaders
if (isMainThread) register(import.meta.url)
