import t from 'tap'
import { must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'
t.test('x', async (t) => {
  const dir = makeOrigin(t)
  const time = async <T>(name: string, work: Promise<T>) => {
    const began = performance.now()
    console.error('BEGIN', name)
    const result = await work
    console.error('TIME', name, Math.round(performance.now() - began))
    return result
  }
  const a = await time('open', openSyncedClone(t, { dir, name: 'a' }))
  const { id } = await time('post', must(a, 'POST', '/cases', { title: 'Login times out' }))
  await time('sync', a.sync())
  await time('nothing', a.sync())
  const b = await time('open b', openSyncedClone(t, { dir, name: 'b' }))
  await must(a, 'PUT', `/cases/${id}`, { title: 'x' })
  await must(b, 'PUT', `/cases/${id}`, { type: 'feature' })
  await time('sync a', a.sync())
  await time('sync b', b.sync())
  await time('close', Promise.all([a.close(), b.close()]))
})
