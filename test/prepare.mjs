/** Makes what tests run: the program in dist/, and JavaScript of all test files. tap runs it first; nothing changed, nothing is made. */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import processOnSpawn from 'process-on-spawn'
import { BUILT, buildPrograms, ROOT } from './build.mjs'
import { testFiles } from './test-files.mjs'

/** What tests start besides, by `built()`. */
const PROGRAMS = [
  'test/fixtures/busy-worker.ts',
  'test/fixtures/guarded-process.ts',
  'test/fixtures/log-process.ts',
  'test/fixtures/owner-process.ts',
  ...readdirSync(join(ROOT, 'src/runners/process')).map((name) => `src/runners/process/${name}`),
]
const SOURCES = ['src', 'test', 'package-lock.json', 'bundle.mjs']
const STAMP = join(BUILT, 'made')

const timeOf = (path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const isSource = (path) => !/(^|\/)node_modules(\/|$)/.test(path)
const pathsBelow = (path) =>
  statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true })
        .filter(isSource)
        .map((name) => `${path}/${name}`)
    : []
const changed = Math.max(...SOURCES.flatMap((path) => [path, ...pathsBelow(path)]).map(timeOf))
if (changed >= (statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs ?? 0)) {
  // with the modules that tap loads in each program the compiler does not start
  processOnSpawn.removeAllListeners()
  execFileSync(process.execPath, ['bundle.mjs'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await rm(BUILT, { recursive: true, force: true })
  await buildPrograms([...testFiles(), ...PROGRAMS], BUILT)
  writeFileSync(STAMP, '')
}
