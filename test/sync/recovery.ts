import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone, type SyncedClone } from '../fixtures/synced-clones.ts'

/** Two clones, of which `b` lacks a commit of `a`: it changes case.md, adds a case, and removes a memory file. */
async function behind(t: Test) {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  await must(a, 'PUT', `/cases/${id}/memory/old.md`, 'old\n')
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(a, 'PUT', `/cases/${id}`, { title: 'New' })
  await must(a, 'POST', '/cases', { title: 'Other' })
  a.git('rm', '-q', `cases/${id}/old.md`)
  await a.sync()
  b.git('fetch', '-q')
  const to = b.git('rev-parse', 'origin/main').trim()
  const paths = b.git('diff', '--name-only', 'HEAD', to).trim().split('\n')
  return { dir, a, b, id, to, paths }
}

/** What a killed sync leaves while it moves the files. */
function interrupt({ memory }: SyncedClone, to: string): void {
  writeFileSync(join(memory, '.git/casefile-sync-target'), `${to}\n`)
  writeFileSync(join(memory, '.git/index.lock'), 'casefile sync\n')
  writeFileSync(join(memory, '.git/casefile-sync-1-abc'), '')
}

function writeFrom(clone: SyncedClone, to: string, path: string): void {
  mkdirSync(dirname(clone.path(path)), { recursive: true })
  clone.write(clone.git('show', `${to}:${path}`), path)
}

async function isWhole(t: Test, a: SyncedClone, b: SyncedClone) {
  t.match(await b.sync(), { state: 'in_sync', copies: [] })
  await a.sync()
  t.equal(a.tree(), b.tree())
  const left = readdirSync(join(b.memory, '.git')).filter((name) => /casefile|lock/.test(name))
  t.strictSame(left, [])
  t.notOk(existsSync(b.path('.casefile-sync-removed.tmp')))
}

t.test('killed while it wrote the files', async (t) => {
  const { a, b, id, to, paths } = await behind(t)
  interrupt(b, to)
  for (const path of paths.filter((each) => !each.endsWith('old.md'))) writeFrom(b, to, path)
  await isWhole(t, a, b)
  t.equal((await must(b, 'GET', `/cases/${id}`)).title, 'New')
})

t.test('killed while it wrote the files, and a person saved one since', async (t) => {
  const { a, b, id, to } = await behind(t)
  interrupt(b, to)
  const text = b.read('cases', id, 'case.md')
  b.write(text.replace('type: bug', 'type: epic'), 'cases', id, 'case.md')
  await isWhole(t, a, b)
  t.match(await must(b, 'GET', `/cases/${id}`), { title: 'New', type: 'epic' })
})

t.test('killed while it removed a file', async (t) => {
  const { a, b, id, to } = await behind(t)
  interrupt(b, to)
  b.write(b.path('cases', id, 'old.md'), '.casefile-sync-path.tmp')
  renameSync(b.path('cases', id, 'old.md'), b.path('.casefile-sync-removed.tmp'))
  await isWhole(t, a, b)
  t.notOk(existsSync(b.path('cases', id, 'old.md')))
})

t.test('killed after it moved the branch', async (t) => {
  const { a, b, to, paths } = await behind(t)
  for (const path of paths) {
    if (path.endsWith('old.md')) renameSync(b.path(path), join(b.root, 'old.md'))
    else writeFrom(b, to, path)
  }
  b.git('update-ref', 'HEAD', to)
  interrupt(b, to)
  await isWhole(t, a, b)
})

t.test('a service that starts after a kill puts the files back before it reads them', async (t) => {
  const { dir, b, id, to, paths } = await behind(t)
  await b.close()
  interrupt(b, to)
  for (const path of paths.filter((each) => !each.endsWith('old.md'))) writeFrom(b, to, path)
  const again = await openSyncedClone(t, { dir, name: 'b' })
  t.equal((await must(again, 'GET', `/cases/${id}`)).title, 'Title')
  t.equal((await must(again, 'GET', '/cases')).length, 1)
  t.equal(again.git('status', '--porcelain'), '')
})
