import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** This is the bundle in dist/, or the source in src/ that tests run: both folders are in the root of the package. */
const isBundle = import.meta.url.endsWith('.js')

/** A file of the package, by its path from the root. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}

/** What a worker thread runs, by its source as in `markdown/parse-worker.ts`: the bundle of it, in dist/ itself. */
export function workerFile(source: string): URL {
  return packageFile(`dist/${source.replace(/^.*\/(.*)\.ts$/, '$1.js')}`)
}

const requireHere = createRequire(import.meta.url)

/**
 * A package that is large and seldom needed, loaded at its first use; the bundle has it in a file of its own. Plain
 * frontmatter needs neither of them, and a command that only reads would spend a third of its start on them.
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
