import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { hasCode } from '../../src/files/errno.ts'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { connect } from '../fixtures/event-source.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { envelope, git as gitIn } from '../fixtures/session-client.ts'

const execute = promisify(execFile)
const WHO = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']
const SECONDS = isFull ? 150 : 5
const CASES = 30
const WORKERS = 6
/** The clock of a file system stands for so long. */
const TICK_MS = 10

interface Put {
  key: string
  from: number
}

interface Sent {
  key: string
  at: number
}

/**
 * Requests, a person who saves, git, and a service that is killed again and again. Nothing waits for the other: what
 * must hold is that each answered PUT has its event, and that at the end the events are up to the files.
 */
t.test(
  'an answered PUT of a memory file has its event, through edits, git and kills',
  async (t) => {
    const seed = Number(process.env.CASEFILE_TEST_SEED)
    t.comment(`CASEFILE_TEST_SEED=${seed}`)
    const random = randomFrom(seed)
    const between = (least: number, most: number) => least + random() * (most - least)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    t.teardown(() => {}) // or tap removes the testdir before the service has ended
    const dir = t.testdir({ root: {}, state: {} })
    const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
    const ids = Array.from({ length: CASES }, () => randomUUID())
    const file = (id: string, name: string) => join(root, 'memory', 'cases', id, name)
    makeBranches(root, ids, file)

    const service = await startBuilt(t, { root, stateDir })
    const starts = [service.startMs]
    const sent: Sent[] = []
    let last = '0'
    let listening = listen(service)
    let isUp = true
    let isOver = false
    const puts: Put[] = []

    async function listen({ url }: BuiltService): Promise<void> {
      const client = await connect(`${url}/events?after=${last}&output=no`).catch(() => null)
      if (!client) return // killed before it answered
      await client.closed // what came before is in `received` by then
      for (const { id, data } of client.received) {
        if (id === undefined) continue
        last = id
        const { event_type, timestamp, payload } = envelope({ data })
        if (event_type !== 'memory_updated') continue
        sent.push({ key: `${payload.case_id} ${payload.filename}`, at: Date.parse(timestamp) })
      }
    }

    async function requests(): Promise<void> {
      while (!isOver) {
        await delay(between(0, 40))
        if (!isUp) continue
        const [id, isNew] = [pick(ids), random() < 0.3]
        const name = isNew ? `n${randomUUID()}.md` : pick(['notes.md', 'a.md', 'b.md', 'other.md'])
        const from = Date.now()
        const text = `${randomUUID()}\n` // of one size
        const status = await service
          .request('PUT', `/cases/${id}/memory/${name}`, text)
          .then((answer) => answer.status)
          .catch(() => 0) // killed
        if (status === 200 || status === 201) puts.push({ key: `${id} ${name}`, from })
      }
    }

    async function person(): Promise<void> {
      for (let turn = 0; !isOver; turn++) {
        await delay(between(20, 120))
        const id = pick(ids)
        try {
          const made = readdirSync(file(id, '')).filter((name) => name.startsWith('n'))
          const way = random()
          if (way < 0.3) appendFileSync(file(id, 'notes.md'), `hand ${turn}\n`)
          else if (way < 0.5 && made.length > 0) rmSync(file(id, pick(made)))
          else {
            writeFileSync(file(id, 'b.md.tmp'), `hand ${turn}\n`)
            renameSync(file(id, 'b.md.tmp'), file(id, 'b.md'))
          }
        } catch (error) {
          if (!hasCode(error, 'ENOENT')) throw error // a branch without it
        }
      }
    }

    async function branches(): Promise<void> {
      const ways = [
        ['checkout', '--quiet', '--', '.'],
        ['reset', '--quiet', '--hard'],
        ['stash', '--quiet'],
        ['checkout', '--quiet', '--force', 'main'],
        ['checkout', '--quiet', '--force', 'other'],
        ['merge', '--quiet', '--no-edit', '--strategy-option', 'theirs', 'other'],
      ]
      while (!isOver) {
        await delay(between(50, 300))
        for (const args of [
          ['add', '--all'],
          random() < 0.5 ? ['commit', '-qm', 'x'] : [],
          pick(ways),
        ])
          await tryGit(root, args)
      }
    }

    const work = [...Array.from({ length: WORKERS }, requests), person(), branches()]
    for (const until = Date.now() + SECONDS * 1000; Date.now() < until || puts.length <= 20; ) {
      await delay(between(300, 2000))
      isUp = false
      await service.stop('SIGKILL')
      await listening
      await service.restart()
      starts.push(service.startMs)
      listening = listen(service)
      isUp = true
    }
    isOver = true
    await Promise.all(work)
    await delay(2500) // what was saved last is looked at when it stands still
    await service.stop('SIGKILL')
    await listening
    const atEnd = sent.length
    await service.restart()
    listening = listen(service)
    await delay(1000)
    await service.stop()
    await listening

    const none = puts.filter(
      ({ key, from }) => !sent.some((each) => each.key === key && each.at >= from - TICK_MS),
    )
    t.same(none, [], 'no answered PUT is without its event')
    t.same(sent.slice(atEnd), [], 'at the end a start finds nothing that was not sent')
    const sorted = starts.map(Math.round).sort((a, b) => a - b)
    t.comment(
      `${puts.length} PUTs, ${sent.length} events, ${starts.length} starts: ${sorted[sorted.length >> 1]} ms, at most ${sorted.at(-1)} ms`,
    )
  },
)

function makeBranches(
  root: string,
  ids: readonly string[],
  file: (id: string, name: string) => string,
): void {
  for (const id of ids) {
    mkdirSync(file(id, ''), { recursive: true })
    writeFileSync(file(id, 'case.md'), '# A case\n')
    for (const name of ['notes.md', 'a.md', 'b.md']) writeFileSync(file(id, name), 'main\n')
  }
  gitIn(root, 'init', '--quiet')
  gitIn(root, 'checkout', '--quiet', '-B', 'main')
  gitIn(root, 'add', '--all')
  gitIn(root, 'commit', '--quiet', '--message', 'main')
  gitIn(root, 'checkout', '--quiet', '-b', 'other')
  for (const id of ids.slice(0, CASES / 2)) {
    for (const name of ['notes.md', 'other.md']) writeFileSync(file(id, name), 'other\n')
  }
  gitIn(root, 'add', '--all')
  gitIn(root, 'commit', '--quiet', '--message', 'other')
  gitIn(root, 'checkout', '--quiet', 'main')
}

/** Much of it fails: nothing to commit, a conflict, the lock of another. */
async function tryGit(root: string, args: readonly string[]): Promise<void> {
  if (args.length === 0) return
  try {
    await execute('git', [...WHO, ...args], { cwd: root })
  } catch (error) {
    if (!(error instanceof Error && 'stderr' in error)) throw error
  }
}
