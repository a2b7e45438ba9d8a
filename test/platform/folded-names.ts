import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runBuilt, startBuilt } from '../fixtures/built-service.ts'
import { connect } from '../fixtures/event-source.ts'
import { envelope, git, must } from '../fixtures/session-client.ts'

const DISK = join(process.cwd(), 'test/fixtures/folding-disk.py')

const composed = 'Über.md'.normalize('NFC')
const decomposed = composed.normalize('NFD')

t.test('on a disk that ignores case and composition', async (t) => {
  const disk = await mounted(t)
  if (typeof disk !== 'string') return t.pass('mounted', { skip: disk.why })
  const root = join(disk, 'Work')
  mkdirSync(root)
  git(root, 'init', '--quiet')
  const stateDir = t.testdir()
  const service = await startBuilt(t, { root, stateDir })
  const { id } = await must(service, 'POST', '/cases', { title: 'Names' })
  const folder = join(root, 'memory/cases', id)
  const memory = (name: string) => `/cases/${id}/memory/${encodeURIComponent(name)}`
  const listed = async (): Promise<string[]> =>
    (await must(service, 'GET', `/cases/${id}/memory`)).map(
      ({ filename }: { filename: string }) => filename,
    )

  t.test('a workspace has one owner, however its path is spelled', async (t) => {
    const args = ['serve', '--root', join(disk, 'WORK'), '--state-dir', t.testdir(), '--port', '0']
    const { code, stderr } = await runBuilt(args)
    t.not(code, 0)
    t.match(stderr, service.url)
  })

  for (const [written, read] of [
    ['Notes.md', 'notes.md'],
    [composed, decomposed.toLowerCase()],
  ] as const) {
    t.test(`${written} is one file by all its spellings`, async (t) => {
      const events = await connect(`${service.url}/events`)
      t.equal((await service.request('PUT', memory(written), 'Quokka one')).status, 201)
      t.match(await service.request('GET', memory(read)), { status: 200, text: 'Quokka one' })
      t.equal((await service.request('PUT', memory(read), `Quokka ${written}`)).status, 200)
      t.match(await service.request('GET', memory(written)), { text: `Quokka ${written}` })
      t.equal((await listed()).filter((name) => isSame(name, written)).length, 1)

      const found = await must(service, 'GET', `/search?q=${encodeURIComponent(written)}`)
      const files = found.flatMap(({ lines }: Found) => lines.map(({ file }) => file))
      t.equal(new Set(files.filter((file: string) => isSame(basename(file), written))).size, 1)

      const end = await must(service, 'POST', '/cases', { title: 'The end' })
      await events.next(({ event, data }) => event === 'case_created' && data.includes(end.id))
      const names = events.received
        .filter(({ event }) => event === 'memory_updated')
        .map((event) => (envelope(event).payload as { filename: string }).filename)
        .filter((name) => isSame(name, written))
      t.equal(names.length, 2, names.join())
      t.equal(new Set(names).size, 1, names.join())
      events.close()
    })
  }

  t.test('the disk lists decomposed names', async (t) => {
    t.ok(readdirSync(folder).includes(decomposed))
    t.notOk(readdirSync(folder).includes(composed))
  })

  t.test('an edit by hand under another spelling is served', async (t) => {
    writeFileSync(join(folder, composed.replace('Ü', 'ü')), 'By hand')
    const served = async () => (await service.request('GET', memory(decomposed))).text
    t.ok(await until(async () => (await served()) === 'By hand'))
  })

  t.test('another spelling does not open what the service writes itself', async (t) => {
    const history = readFileSync(join(folder, 'history.md'), 'utf8')
    for (const name of ['History.md', 'hi\u017ftory.md', 'Case.md', 'ca\u017fe.md', 'Latest.md']) {
      const { status, json } = await service.request('PUT', memory(name), 'forged')
      t.match({ status, json }, { status: 400, json: { code: 'invalid_filename' } }, name)
    }
    t.equal(readFileSync(join(folder, 'history.md'), 'utf8'), history)
  })

  t.test('git and the check find nothing wrong', async (t) => {
    git(root, 'add', '.')
    git(root, 'commit', '--quiet', '-m', 'all')
    await must(service, 'PUT', memory('NOTES.md'), 'Changed')
    t.equal(git(root, 'status', '--porcelain'), ` M memory/cases/${id}/Notes.md\n`)
    const { code, stdout } = await runBuilt([
      'doctor',
      '--check',
      '--root',
      root,
      '--state-dir',
      stateDir,
    ])
    t.equal(code, 0, stdout)
  })

  t.test(
    'a folder of a case in upper-case letters is a problem, until it is renamed',
    async (t) => {
      const upper = join(root, 'memory/cases', id.toUpperCase())
      const problems = async (): Promise<string> =>
        JSON.stringify((await must(service, 'GET', '/health')).problems)
      renameSync(folder, upper)
      t.ok(
        await until(async () => (await problems()).includes('lower-case UUID')),
        await problems(),
      )
      renameSync(upper, folder)
      t.ok(await until(async () => (await problems()) === '[]'), await problems())
      t.match(await must(service, 'GET', `/cases/${id}`), { title: 'Names' })
    },
  )
})

interface Found {
  lines: { file: string }[]
}

const isSame = (a: string, b: string) =>
  a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase()

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const limit = performance.now() + 15_000
  while (performance.now() < limit) {
    if (await holds()) return true
    await delay(100)
  }
  return false
}

/** Mounts the folding disk, or says why that is not possible here. */
async function mounted(t: Test): Promise<string | { why: string }> {
  if (!existsSync('/dev/fuse')) return { why: 'there is no /dev/fuse' }
  // not below t.testdir(), which tap empties before the disk is unmounted
  const base = mkdtempSync(join(tmpdir(), 'casefile-disk-'))
  const [stored, disk] = [join(base, 'stored'), join(base, 'Disk')]
  mkdirSync(stored)
  mkdirSync(disk)
  const before = statSync(disk).dev
  const daemon = spawn('/usr/bin/python3', [DISK, stored, disk], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let stderr = ''
  daemon.stderr.on('data', (text) => {
    stderr += text
  })
  let isGone = false
  const gone = once(daemon, 'close').catch((error) => {
    stderr = error.message
  })
  void gone.then(() => {
    isGone = true
  })
  while (!isGone && statSync(disk).dev === before) await delay(50)
  t.teardown(async () => {
    daemon.stdin.end() // unmounts it
    await gone
    rmSync(base, { recursive: true })
  })
  return isGone ? { why: `the disk was not mounted: ${stderr.trim().split('\n').at(-1)}` } : disk
}
