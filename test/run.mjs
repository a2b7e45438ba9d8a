/**
 * Starts tap, which .taprc configures: `node test/run.mjs` for what `npm test` runs, many files in one process;
 * with `--long [part...]` for parts of the long lane in full, with `--slice part` for one with the numbers of CI; else with
 * the arguments as they are.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPrograms, ROOT } from './build.mjs'
import './build-tap.mjs'
import { faultsOf, isShort, PARTS, partOf } from './long-lane.mjs'
import { withFoldersInMemory } from './memory.mjs'
import { testFiles } from './test-files.mjs'

/** So many bytes of test files run in one process: one that has only loaded tap and the service took a second of CPU. */
const GROUP_BYTES = 200_000
/** Begin first, as they take longest. */
const isLengthy = ({ files }) =>
  files.some((file) => /^test\/(sessions\/|cli\/|browser\/|lint)/.test(file))
/** Has a process to itself: it takes long, or needs what a process has once, such as where it starts programs from. */
const isSeparate = (file) => /^test\/((browser|faults)\/|git\/folder-contents|lint)/.test(file)
/** Of what is in `.tap`, tap keeps nothing for a report of coverage. */
const GROUPS = join(ROOT, '.tap/groups')
const TAP = join(ROOT, 'node_modules/.bin/tap')

const faults = faultsOf(testFiles())
if (faults.length > 0) throw new Error(faults.join('\n'))
const [first, ...names] = process.argv.slice(2)
if (first === undefined) await runGroups(groupFiles(testFiles().filter(isShort)), { jobs: 6 })
else if (first !== '--long' && first !== '--slice') runTap([TAP, first, ...names])
else {
  const isFull = first === '--long'
  const parts = names.length > 0 ? names : Object.keys(PARTS)
  const unknown = parts.find((name) => !PARTS[name])
  if (unknown) throw new Error(`${unknown} is none of: ${Object.keys(PARTS).join(', ')}`)
  for (const part of parts) {
    console.log(`# part of the long lane: ${part}`)
    const files = testFiles().filter((file) => partOf(file) === part)
    const jobs = PARTS[part].jobs ?? 2
    const groups = files.map((file) => ({ folder: dirname(file), files: [file], bytes: 0 }))
    await runGroups(groups, { jobs, isFull, isLong: true })
  }
}

/** Each group is a process: an entry for tap, with its files built together. */
async function runGroups(groups, { jobs, isFull = false, isLong = false }) {
  rmSync(GROUPS, { recursive: true, force: true })
  mkdirSync(GROUPS, { recursive: true })
  const entries = groups.map(({ folder, files }, at) => {
    const name = `${String(at).padStart(2, '0')}-${folder.replaceAll('/', '-')}`
    const path = join(GROUPS, `${name}.mjs`)
    writeFileSync(path, entryOf(files))
    return [name, path]
  })
  await buildPrograms(Object.fromEntries(entries), GROUPS)
  const limit = isFull ? 10_800 : 300
  // by their whole paths: a thread that a test starts from another folder has them too
  const [first, next] = ['without-tracking.mjs', 'setup.mjs'].map(
    (name) => `--import=${new URL(name, import.meta.url).href}`,
  )
  const options = [`--jobs=${jobs}`, `--timeout=${limit}`, `--node-arg=${next}`]
  const programs = entries.map(([name]) => join(GROUPS, `${name}.js`))
  const words = [TAP, ...options, '--disable-coverage', ...programs]
  const env = {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${first}`, // arguments come after those of tap
    CASEFILE_TEST_FULL: isFull ? '1' : '',
    CASEFILE_TEST_LONG: isLong ? '1' : '',
  }
  if (isLong) runTap(words, env)
  else withFoldersInMemory((first, more) => runTap([...first, ...words], { ...env, ...more }))
}

function runTap([program, ...words], env = {}) {
  const all = { ...process.env, ...env }
  const { status } = spawnSync(program, words, { cwd: ROOT, stdio: 'inherit', env: all })
  process.exitCode ||= status ?? 1
}

/** The program of a group: it loads each file when the one before has ended. */
function entryOf(files) {
  const loads = files.map((file) => `  '${file}': () => import('../../${file}'),\n`)
  return `import '../../test/fixtures/small-process.ts'
import { runGroup } from '../../test/group.mjs'

await runGroup({\n${loads.join('')}})
`
}

/** As many files as fit, in the order of their paths. */
function groupFiles(files) {
  const groups = []
  let open = null
  for (const file of files) {
    const group = { folder: dirname(file), files: [file], bytes: statSync(join(ROOT, file)).size }
    if (isSeparate(file)) groups.push(group)
    else if (open && open.bytes + group.bytes <= GROUP_BYTES) {
      open.files.push(file)
      open.bytes += group.bytes
    } else {
      groups.push(group)
      open = group
    }
  }
  return groups.sort((a, b) => isLengthy(b) - isLengthy(a) || b.bytes - a.bytes)
}
