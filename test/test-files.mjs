import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.mjs'

/** All files with tests, by their paths from the root. */
export const testFiles = () =>
  readdirSync(join(ROOT, 'test'), { recursive: true })
    .map((name) => `test/${name}`)
    .filter((path) => /^test\/(?!fixtures\/|api-tools\/|[^/]+\/node_modules\/).*\.ts$/.test(path))
    .sort()
