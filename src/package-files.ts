import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * Whether this is the bundle in dist/ or, as in tests, the source in src/. Both folders are in the package's root.
 */
const isBundle = import.meta.url.endsWith('.js')

/** The URL of a file in the package, by its path from the root. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}

/**
 * The URL of a worker thread's code, by its source such as `markdown/parse-worker.ts`; the bundle has it directly
 * in dist/.
 */
export function workerFile(source: string): URL {
  return new URL(isBundle ? source.replace(/^.*\/(.*)\.ts$/, '$1.js') : source, import.meta.url)
}

const requireHere = createRequire(import.meta.url)

/**
 * Loads a large, rarely needed package at its first use; the bundle has it in a separate file. Plain frontmatter
 * needs neither, and loading them would take a third of a reading command's start.
 */
export function lazyPackage(name: 'yaml' | 'gray-matter'): unknown {
  return requireHere(isBundle ? `./${name}.cjs` : name)
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    version: string
  }
  return version
}
