import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { newCaseText } from '../../src/markdown/case-file.ts'
import { withHistory } from '../../src/markdown/history-file.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { isConflictCopy } from '../../src/model/conflict-copy.ts'
import { createEditor, readWhole } from '../fixtures/case-editor.ts'
import { CLI } from '../fixtures/cli.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import type { Files } from '../fixtures/merge-folder.ts'
import { randomFrom } from '../fixtures/random.ts'
import { CASE, CASE_ID, NOW } from '../fixtures/records.ts'
import { git } from '../fixtures/session-client.ts'
import { makeOrigin } from '../fixtures/synced-clones.ts'

t.teardown(useParser())

const SEED = Number(process.env.CASEFILE_TEST_SEED)
const ROUNDS = isFull ? 200 : isLong ? 15 : 4
const CLONES = ['a', 'b', 'c', 'd']
/** The share of syncs that are killed. */
const KILLED = 0.4
const MAX_KILL_MS = 6000

t.test(
  'clones that edit, sync and are killed end with the same record, and nothing is lost',
  async (t) => {
    t.comment(`CASEFILE_TEST_SEED=${SEED}`)
    const random = randomFrom(SEED)
    const dir = makeOrigin(t)
    const memory = (name: string) => join(dir, name, 'memory')
    const folder = (name: string) => join(memory(name), 'cases', CASE_ID)
    const words = new Set<string>()

    /** Runs `casefile sync`; kills it after a time. Returns its exit code, or null. */
    async function sync(name: string, killMs?: number): Promise<number | null> {
      const child = spawn(process.execPath, [CLI, 'sync', '--json'], {
        cwd: join(dir, name),
        env: {
          ...process.env,
          CASEFILE_ROOT: join(dir, name),
          CASEFILE_STATE_DIR: join(dir, `${name}-state`),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      child.stdout.on('data', (text) => (said += text))
      child.stderr.on('data', (text) => (said += text))
      const timer =
        killMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs)
      const [code] = (await once(child, 'close')) as [number | null]
      clearTimeout(timer)
      if (code !== null && code > 1 && killMs === undefined)
        t.comment(`${name}: ${said.slice(0, 600)}`)
      return code
    }

    const read = (name: string): Files => {
      const paths = readdirSync(folder(name), { recursive: true, encoding: 'utf8' })
      const texts = paths.filter((path) => path.endsWith('.md') && path !== 'sessions/latest.md')
      return Object.fromEntries(
        texts.map((path) => [path, readFileSync(join(folder(name), path), 'utf8')]),
      )
    }
    const write = (name: string, before: Files, after: Files) => {
      for (const [path, text] of Object.entries(after)) {
        if (before[path] === text) continue
        const place = join(folder(name), path)
        mkdirSync(dirname(place), { recursive: true })
        writeFileSync(place, text)
      }
    }

    for (const name of CLONES) {
      mkdirSync(join(dir, name))
      git(dir, 'clone', '--quiet', 'origin.git', memory(name))
      if (name !== 'a') continue
      write(
        name,
        {},
        {
          'case.md': await newCaseText({ ...CASE, description: 'One.\n\nTwo.', checklist: [] }),
          'history.md': withHistory(null, [`- ${NOW} · a · created`]),
          'notes.md': 'a\nb\nc\n',
        },
      )
      t.equal(await sync(name), 0)
    }
    const editors = new Map(
      CLONES.map((name) => {
        const wrote = (word: string) => words.add(word)
        return [name, createEditor(random, name, { caseId: CASE_ID, wrote, addsOnly: true })]
      }),
    )
    let killed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const chosen = CLONES.filter(() => random() < 0.6)
      const edited: [string, Files, Files][] = []
      for (const name of chosen) {
        const before = read(name)
        edited.push([name, before, await editors.get(name)!(before, 1 + Math.floor(random() * 3))])
      }
      const syncs: Promise<number | null>[] = []
      for (const [name, before, after] of edited) {
        write(name, before, after)
        const isKilled = random() < KILLED
        if (isKilled) killed++
        syncs.push(sync(name, isKilled ? 300 + random() * MAX_KILL_MS : undefined))
      }
      await Promise.all(syncs)
    }
    t.comment(`${ROUNDS} rounds, ${killed} killed, ${words.size} words`)
    for (const name of [...CLONES, ...CLONES, ...CLONES]) await sync(name)
    const trees = CLONES.map((name) => git(memory(name), 'rev-parse', 'HEAD^{tree}'))
    t.equal(new Set(trees).size, 1, 'all clones have the same record')
    for (const name of CLONES) {
      t.equal(git(memory(name), 'status', '--porcelain'), '', 'nothing is left to commit')
      const left = readdirSync(join(memory(name), '.git')).filter((file) =>
        /casefile|\.lock$/.test(file),
      )
      t.strictSame(left, [], 'nothing is left in the folder of git')
      t.notOk(existsSync(join(memory(name), '.casefile-sync-removed.tmp')))
    }
    const files = read('a')
    const all = Object.values(files).join('\n')
    const lost = [...words].filter((word) => !all.includes(word))
    t.strictSame(lost, [], 'every word is in a file or in a conflict copy')
    const ids: string[] = []
    for (const [path, text] of Object.entries(files)) {
      const number = /^sessions\/(\d+)\.md$/.exec(path)?.[1]
      if (number) ids.push(readWhole(text as string, Number(number), CASE_ID).id)
    }
    t.equal(new Set(ids).size, ids.length, 'each session is there once')
    const history = (files['history.md'] as string)
      .split('\n')
      .filter((line) => line.startsWith('- '))
    t.equal(new Set(history).size, history.length, 'no line of the history is doubled')
    const options = { root: join(dir, 'a'), stateDir: join(dir, 'a-state') }
    const { findings } = await checkWorkspace(options, process.env)
    const copies = Object.keys(files).filter(isConflictCopy)
    const named = findings.filter(({ code }) => code === 'conflict_copy').length
    t.equal(named, copies.length, 'check names each conflict copy')
  },
)
