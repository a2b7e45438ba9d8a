/**
 * Plants small faults in `src`, one at a time, and says which of them no test notices: `npm run test:faults`, with names of
 * lists in `test/planted-faults/` for these alone, or with the path of another list. A list is JSON:
 * `[{ "file", "find", "replace", "loses", "tests": [] }]`, where `find` is once in `file`, `loses` says what a user would
 * lose, and `tests` are files or folders of tests.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.mjs'
import { isShort } from './long-lane.mjs'
import { testFiles } from './test-files.mjs'

const LISTS = join(ROOT, 'test/planted-faults')
const names = process.argv.slice(2)
const paths = (names.length > 0 ? names : readdirSync(LISTS)).map((name) =>
  existsSync(name) ? name : join(LISTS, `${name.replace(/\.json$/, '')}.json`),
)
const faults = paths.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')))
const seen = []
for (const fault of faults) {
  const begin = performance.now()
  const isSeen = plant(fault)
  if (isSeen) seen.push(fault)
  const seconds = ((performance.now() - begin) / 1000).toFixed(0)
  console.log(`${isSeen ? 'seen    ' : 'NOT SEEN'} ${fault.file}: ${fault.loses} (${seconds} s)`)
}
console.log(`${seen.length} of ${faults.length} faults are seen`)
process.exitCode = seen.length === faults.length && faults.length > 0 ? 0 : 1

/** Whether a test fails beside the fault. */
function plant({ file, find, replace, tests }) {
  const path = join(ROOT, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(find).length !== 2) throw new Error(`${file} has not once: ${find}`)
  const files = testFiles().filter(
    (each) => isShort(each) && tests.some((test) => each === test || each.startsWith(`${test}/`)),
  )
  if (files.length === 0) throw new Error(`${file}: no test file below ${tests.join(', ')}`)
  const restore = () => writeFileSync(path, text)
  process.once('exit', restore)
  process.once('SIGINT', () => process.exit(130))
  try {
    writeFileSync(
      path,
      text.replace(find, () => replace),
    )
    // a fault that does not build is none
    execFileSync('node', ['test/prepare.mjs'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const tap = ['--jobs=2', '--bail', '--reporter=tap', ...files]
    return spawnSync('node_modules/.bin/tap', tap, { cwd: ROOT, stdio: 'ignore' }).status !== 0
  } finally {
    restore()
    process.off('exit', restore)
  }
}
