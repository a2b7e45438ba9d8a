/**
 * Starts tap, which .taprc configures: `node test/run.mjs` for what `npm test` runs, files of a folder in one process;
 * with `--long [part...]` for parts of the long lane in full, with `--slice part` for one with the numbers of CI; else with
 * the arguments as they are.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './build.mjs'
import { faultsOf, isShort, PARTS, partsOf } from './long-lane.mjs'
import { testFiles } from './test-files.mjs'

/** So many bytes of test files of one folder run in one process. */
const GROUP_BYTES = 150_000
/** Has a process to itself: it takes long, or uses what a process has once: the parser of markdown. */
const isSeparate = (file) => /^test\/((browser|faults)\/|markdown\/odd-files|lint)/.test(file)
const GROUPS = join(ROOT, '.tap/groups')

const faults = faultsOf(testFiles(), (file) => readFileSync(join(ROOT, file), 'utf8'))
if (faults.length > 0) throw new Error(faults.join('\n'))
const [first, ...names] = process.argv.slice(2)
if (first === undefined) run(writeGroups(testFiles().filter(isShort)), { jobs: 4 })
else if (first !== '--long' && first !== '--slice') run([first, ...names], {})
else {
  const isFull = first === '--long'
  const parts = names.length > 0 ? names : Object.keys(PARTS)
  const unknown = parts.find((name) => !PARTS[name])
  if (unknown) throw new Error(`${unknown} is none of: ${Object.keys(PARTS).join(', ')}`)
  for (const part of parts) {
    console.log(`# part of the long lane: ${part}`)
    const files = testFiles().filter((file) => partsOf(file).includes(part))
    run(files, { jobs: PARTS[part].jobs ?? 2, isFull, isLong: true })
  }
}

function run(words, { jobs, isFull = false, isLong = isFull }) {
  const options = jobs === undefined ? [] : [`--jobs=${jobs}`, `--timeout=${isFull ? 10_800 : 300}`]
  const env = {
    ...process.env,
    CASEFILE_TEST_FULL: isFull ? '1' : '',
    CASEFILE_TEST_LONG: isLong ? '1' : '',
  }
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/tap'), [...options, ...words], {
    cwd: ROOT,
    stdio: 'inherit',
    env,
  })
  process.exitCode ||= status ?? 1
}

/** Files of one folder, as many as fit; the largest group first, as it takes longest. */
function writeGroups(files) {
  const groups = []
  for (const file of files) {
    const folder = dirname(file)
    const bytes = statSync(join(ROOT, file)).size
    const last = groups.findLast((group) => group.folder === folder && !group.isSeparate)
    if (last && !isSeparate(file) && last.bytes + bytes <= GROUP_BYTES) {
      last.files.push(file)
      last.bytes += bytes
    } else {
      groups.push({ folder, files: [file], bytes, isSeparate: isSeparate(file) })
    }
  }
  rmSync(GROUPS, { recursive: true, force: true })
  mkdirSync(GROUPS, { recursive: true })
  return groups
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ folder, files }, at) => {
      const path = join(GROUPS, `${at}-${folder.replaceAll('/', '-')}.mjs`)
      const text = `import { runGroup } from '../../test/group.mjs'\nawait runGroup(${JSON.stringify(files)})\n`
      writeFileSync(path, text)
      return path
    })
}
