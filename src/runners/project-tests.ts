import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import type { ReportFormat } from '../model/report-formats.ts'
import { SETTINGS_FILE, type Settings } from '../model/settings.ts'
import { npmReportScript, reportScript } from './report-command.ts'

export interface ProjectTests {
  /** A step id. */
  id: string
  command: string
  /** The file with the test command. */
  source: string
  /** What a step runs: the command, and what makes it print a report. */
  script: string
  /** The report that the script is known to print. */
  report: ReportFormat | null
}

type Detect = (text: string) => Omit<ProjectTests, 'source'> | null

const plain = (id: string, command: string) => ({
  id,
  command,
  ...(reportScript(command) ?? { script: command, report: null }),
})

/** The files that may name a project's test command, in order of preference. */
const SOURCES: [file: string, detect: Detect][] = [
  ['package.json', npmTest],
  ['GNUmakefile', makeTest],
  ['Makefile', makeTest],
  ['Cargo.toml', () => plain('cargo-test', 'cargo test')],
  ['go.mod', () => plain('go-test', 'go test ./...')],
  ['pyproject.toml', pythonTest],
]

/** The project's own test command, according to files directly in the folder; null if there is none. */
export async function detectTests(folder: string): Promise<ProjectTests | null> {
  for (const [source, detect] of SOURCES) {
    const read = await readRegular(join(folder, source), { maxBytes: 1024 * 1024 })
    const text = read.ok ? decodeUtf8(read.bytes) : null
    const found = text?.ok ? detect(text.text.replace(/^\ufeff/, '')) : null
    if (found) return { ...found, source }
  }
  return pythonFiles(folder)
}

/** The tests of a folder: the command in casefile.md, else what the project's own files say. */
export async function findTests(
  folder: string,
  { tests: command }: Pick<Settings, 'tests'>,
): Promise<ProjectTests | null> {
  const detected = await detectTests(folder)
  if (command === null) return detected
  const isSame = detected !== null && isSameTest(detected.command, command)
  const found = isSame ? detected : plain('tests', command)
  return { ...found, command, source: SETTINGS_FILE }
}

/** `npm test` prints what `npm test --silent` prints, and two lines more. */
function isSameTest(a: string, b: string): boolean {
  const plain = (command: string) => command.replace(/ --silent$/, '').trim()
  return plain(a) === plain(b)
}

function npmTest(text: string): ReturnType<Detect> {
  const script = testScript(text)
  if (script === null || script.trim() === '' || /no test specified/.test(script)) return null
  const [, ...args] = script.split(/(?:^|[\s;&])tap(?=\s|$)/)
  const isTap = /--test-reporter[= ]tap\b/.test(script) || /-R[ =]?tap/.test(args.join())
  const command = 'npm test --silent'
  const asked = npmReportScript(command, script)
  return { id: 'npm-test', command, script: command, report: isTap ? 'tap' : null, ...asked }
}

function testScript(text: string): string | null {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: { test?: unknown } }
    return typeof scripts?.test === 'string' ? scripts.test : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null // a malformed file is the project's problem
    throw error
  }
}

function makeTest(text: string): ReturnType<Detect> {
  const rules = withoutDefinitions(text.replace(/\\\r?\n/g, ' '))
  const targets = [
    ...rules.matchAll(/^([^\t#:=\r\n\u2028\u2029][^#:=\r\n\u2028\u2029]*):(?!:?:?=)/gm),
  ].flatMap(([, names]) => names!.trim().split(/\s+/))
  const target = ['test', 'check'].find((name) => targets.includes(name))
  return target === undefined ? null : plain(`make-${target}`, `make ${target}`)
}

function withoutDefinitions(text: string): string {
  let isDefining = false
  const kept = text.split('\n').filter((line) => {
    const isBegin = /^ *(?:override +)?define\b/.test(line)
    const isRule = !isDefining && !isBegin
    isDefining = isBegin || (isDefining && !/^ *endef\b/.test(line))
    return isRule
  })
  return kept.join('\n')
}

/** A file that only configures a formatter or a linter says nothing about tests. */
function pythonTest(text: string): ReturnType<Detect> {
  const settings = text.replace(/^[ \t]*#.*$/gm, '')
  const isProject = /^\[(?:project|tool\.poetry)\]/m.test(settings)
  return isProject || /\bpytest\b/.test(settings) ? plain('pytest', 'python3 -m pytest') : null
}

/** A Python project that has nothing but its tests, `test_*.py` there or in `tests/`. */
async function pythonFiles(folder: string): Promise<ProjectTests | null> {
  for (const place of ['.', 'tests']) {
    const names = await readdir(join(folder, place)).catch(() => [])
    const source = names.filter((name) => /^test_\w+\.py$/.test(name)).sort()[0]
    if (source === undefined) continue
    const read = await readRegular(join(folder, place, source), { maxBytes: 1024 * 1024 })
    const text = read.ok ? decodeUtf8(read.bytes) : null
    const isUnittest =
      text?.ok === true && /^[ \t]*(?:import|from)[ \t]+unittest\b/m.test(text.text)
    const unittest = `python3 -m unittest discover${place === '.' ? '' : ` -s ${place}`}`
    const found = isUnittest ? plain('unittest', unittest) : plain('pytest', 'python3 -m pytest')
    return { ...found, source: join(place, source) }
  }
  return null
}
