/**
 * Runs test files side by side, and prints TAP: `node test/run.mjs` what `npm test` runs; with files or folders these; with
 * `--long [part...]` parts of the long lane in full, with `--slice part` one of them with the numbers of CI.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { buildPrograms, ROOT } from './build.mjs'
import { faultsOf, isShort, PARTS, partsOf } from './long-lane.mjs'

const JOBS = 4
const SHORT_LIMIT_MS = 300_000
const CHECK_LIMIT_MS = 900_000
const FULL_LIMIT_MS = 3 * 3_600_000
/** What measures time, and so runs with no other beside it. */
const isTimed = (file) => file.startsWith('test/timed/')
/** Has a process to itself: it takes long, or uses what a process has once: the parser of markdown. */
const isSeparate = (file) =>
  isLong || /^test\/((browser|faults|timed)\/|markdown\/odd-files)/.test(file)
/** So many bytes of test files of one folder run in one process. */
const GROUP_BYTES = 60_000

/** What tests start besides test files, by `built()`. */
const PROGRAMS = [
  'test/fixtures/busy-worker.ts',
  'test/fixtures/guarded-process.ts',
  'test/fixtures/log-process.ts',
  'test/fixtures/owner-process.ts',
  ...filesBelow('src/runners/process', /\.ts$/),
]

const BUILT = join(ROOT, '.tap/built')
const chosenFiles = chosen(process.argv.slice(2))
const { files, isBrief = false, isFull = false, isLong = isFull, withCheck = false } = chosenFiles
const LIMIT_MS = isFull ? FULL_LIMIT_MS : SHORT_LIMIT_MS
if (files.length === 0) throw new Error('no test file is chosen')

process.umask(0o022) // a state folder that a group may write to is not used
const began = performance.now()
const results = []
const check = withCheck
  ? [runJob('npm run check', ['npm', 'run', '--silent', 'check'], CHECK_LIMIT_MS)]
  : []
const bundle = await run('node', ['bundle.mjs'])
if (bundle.code !== 0) throw new Error(`the program could not be built: ${bundle.output}`)
await rm(BUILT, { recursive: true, force: true })
await buildPrograms([...files, ...PROGRAMS], BUILT)

console.log('TAP version 14')
// the largest first, as they take longest
const groups = groupFiles(files).sort((a, b) => b.bytes - a.bytes)
const together = groups.filter((group) => !group.files.some(isTimed))
await Promise.all(Array.from({ length: JOBS }, () => runFrom(together)).concat(check))
await runFrom(groups.filter((group) => group.files.some(isTimed)))
console.log(`1..${results.length}`)
const failed = results.filter(({ isOk }) => !isOk)
for (const { name } of failed) console.log(`# failed: ${name}`)
console.log(`# time=${Math.round(performance.now() - began)}ms`)
process.exitCode = failed.length ? 1 : 0

function filesBelow(folder, pattern) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((path) => pattern.test(path))
    .sort()
}

function chosen(words) {
  const all = filesBelow('test', /^(?!test\/(fixtures|[^/]+\/node_modules|api-tools)\/).*\.ts$/)
  const faults = faultsOf(all, (file) => readFileSync(join(ROOT, file), 'utf8'))
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const [first, ...names] = words
  if (first === undefined) return { files: all.filter(isShort), isBrief: true, withCheck: true }
  if (first === '--long' || first === '--slice') {
    const parts = names.length > 0 ? names : Object.keys(PARTS)
    const unknown = parts.find((name) => !PARTS[name])
    if (unknown) throw new Error(`${unknown} is none of: ${Object.keys(PARTS).join(', ')}`)
    console.log(`# part of the long lane: ${parts.join(', ')}`)
    const isChosen = (file) => partsOf(file).some((name) => parts.includes(name))
    return { files: all.filter(isChosen), isFull: first === '--long', isLong: true }
  }
  const paths = words.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''))
  const isBelow = (file, path) => file === path || file.startsWith(`${path}/`)
  const missing = paths.find((path) => !all.some((file) => isBelow(file, path)))
  if (missing) throw new Error(`${missing} is no test file, and no folder with one`)
  const files = all.filter((file) => paths.some((path) => isBelow(file, path)))
  const is = (length) => process.env[`CASEFILE_TEST_${length}`] === '1'
  return { files, isBrief: is('BRIEF'), isFull: is('FULL') }
}

/** Files of one folder, in their order, as many as fit. */
function groupFiles(files) {
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
  return groups
}

async function runFrom(queue) {
  for (let group = queue.shift(); group; group = queue.shift()) {
    const { folder, files } = group
    const name =
      files.length === 1
        ? files[0]
        : `${folder}: ${files.map((file) => basename(file, '.ts')).join(', ')}`
    await runJob(name, ['node', 'test/run-files.mjs', BUILT, ...files], files.length * LIMIT_MS)
  }
}

/** A program that prints no TAP is one test, which its exit code decides. */
async function runJob(name, command, limit) {
  const start = performance.now()
  const { code, signal, output } = await run(command[0], command.slice(1), limit)
  const ms = Math.round(performance.now() - start)
  const plan = /^1\.\.(\d+)(.*)$/m.exec(output)
  const isTest = command[0] === 'node'
  const isOk = code === 0 && (plan !== null || !isTest)
  results.push({ name, isOk })
  const skip = plan?.[1] === '0' && isOk ? plan[2].trim() : ''
  const line = `${isOk ? 'ok' : 'not ok'} ${results.length} - ${name} ${skip || `# time=${ms}ms`}`
  if (isOk && process.stdout.isTTY) return console.log(line)
  const shown = isOk ? output : mapPlaces(output)
  const indented = shown.replaceAll(/^(?=.)/gm, isTest ? '    ' : '# ')
  const head = isTest ? `# Subtest: ${name}\n` : ''
  const ending = isOk ? '' : `\n  ---\n  ended: ${signal ?? `exit code ${code}`}\n  ...`
  console.log(`${head}${indented}${line}${ending}`)
}

/** Names the places of a stack in the source. If Node did so, it would do it at each assertion, in half of the whole time. */
function mapPlaces(text) {
  const maps = new Map()
  const mapOf = (path) => {
    if (!maps.has(path))
      maps.set(path, new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))))
    return maps.get(path)
  }
  return text.replaceAll(
    /(?:file:\/\/)?[^\s()]*\.tap\/built\/([^\s():]+\.js):(\d+):(\d+)/g,
    (place, file, line, column) => {
      const path = join(BUILT, file)
      const { originalSource, originalLine } = mapOf(path).findEntry(line - 1, column - 1)
      return originalSource
        ? `${relative(ROOT, join(dirname(path), originalSource))}:${originalLine + 1}`
        : place
    },
  )
}

/** What is left of its process group when it ends is killed. */
function run(program, args, limit = LIMIT_MS) {
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TAP: '1',
      TAP_TIMEOUT: String(LIMIT_MS / 1000),
      CASEFILE_TEST_BRIEF: isBrief ? '1' : '',
      CASEFILE_TEST_FULL: isFull ? '1' : '',
      // chance finds new faults in the long lane, in full; whatever else runs is what ran before
      CASEFILE_TEST_SEED: process.env.CASEFILE_TEST_SEED ?? String(isFull ? randomInt(2 ** 31) : 1),
    },
  })
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  const timer = setTimeout(end, limit + 10_000)
  return new Promise((done) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      done({ code, signal, output: Buffer.concat(chunks).toString() })
    })
    child.on('exit', end)
  })
}
