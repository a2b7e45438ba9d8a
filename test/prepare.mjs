/** Makes what tests start, where its source has changed: the program in dist/, and `PROGRAMS`. tap runs it first. */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import processOnSpawn from 'process-on-spawn'
import { BUILT, buildPrograms, ROOT } from './build.mjs'

/** What tests start by `built()`. */
const PROGRAMS = [
  'test/fixtures/busy-worker.ts',
  'test/fixtures/guarded-process.ts',
  'test/fixtures/log-process.ts',
  'test/fixtures/owner-process.ts',
  ...['process', 'enclosure'].flatMap((folder) =>
    readdirSync(join(ROOT, 'src/runners', folder)).map((name) => `src/runners/${folder}/${name}`),
  ),
]
const SOURCES = ['src', 'test/fixtures', 'package-lock.json', 'bundle.mjs', 'test/prepare.mjs']
const STAMP = join(BUILT, 'made')

const timeOf = (path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const pathsBelow = (path) =>
  statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true }).map((name) => `${path}/${name}`)
    : []
const changed = Math.max(...SOURCES.flatMap((path) => [path, ...pathsBelow(path)]).map(timeOf))
if (
  changed >= timeOf('dist') ||
  changed >= (statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs ?? 0)
) {
  // with the modules that tap loads in each program the compiler does not start
  processOnSpawn.removeAllListeners()
  execFileSync(process.execPath, ['bundle.mjs'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await buildPrograms(PROGRAMS, join(BUILT, 'programs'))
  writeFileSync(STAMP, '')
}
