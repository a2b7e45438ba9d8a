import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** This is the bundle in dist/, or the source in src/ that tests run: both folders are in the root of the package. */
const isBundle = import.meta.url.endsWith('.js')

/** The URL of a file in the package, by its path from the root. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}

/** The folder of the package, without a slash at its end. */
export const OWN_FOLDER = fileURLToPath(packageFile('.')).replace(/\/$/, '')

/** The file in dist/ that a worker thread runs, by its source such as `markdown/parse-worker.ts`. */
export function workerFile(source: string): URL {
  return packageFile(`dist/${source.replace(/^.*\//, '').replace(/\.ts$/, '.js')}`)
}

const requireHere = createRequire(import.meta.url)

/**
 * Loads a package at its first use; the bundle has it in a separate file. Most commands read no file, and ordinary
 * frontmatter does not need `yaml`, the largest.
 */
export function lazyPackage(name: 'yaml' | 'gray-matter' | 'js-yaml' | 'jsonc-parser'): unknown {
  return requireHere(isBundle ? `./${name}.cjs` : name)
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    version: string
  }
  return version
}
