import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createGroupCommit } from '../../src/state/group-commit.ts'

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n)

t.test('group commit', async (t) => {
  t.test('writes one after the other, with all that came meanwhile', async (t) => {
    const writes: number[][] = []
    let atOnce = 0
    const commit = createGroupCommit<number>({
      async write(items) {
        t.equal(++atOnce, 1)
        writes.push([...items])
        await setImmediate()
        atOnce--
        return Math.min(items.length, 3)
      },
      onWritten() {},
      onFailure() {},
    })
    for (const n of range(1, 5)) commit.add(n)
    const flushed = commit.flushed()
    t.same(writes, [], 'nothing is done at once')
    await setImmediate()
    commit.add(6)
    await flushed
    t.same(writes, [
      [1, 2, 3, 4, 5],
      [4, 5, 6],
    ])
    await commit.flushed()
  })

  t.test('keeps order and count through any failures', async (t) => {
    const written: number[] = []
    const failures: (string | null)[] = []
    let tries = 0
    const commit = createGroupCommit<number>({
      async write(items) {
        await setImmediate()
        if (++tries % 3) throw Object.assign(new Error(`try ${tries}`), { code: 'EIO' })
        return Math.ceil(items.length / 2)
      },
      onWritten: (items) => written.push(...items),
      onFailure: (failure) => failures.push(failure && (failure.error as Error).message),
      retryMs: 60_000,
    })
    t.teardown(commit.stop)
    let rejected = 0
    for (const n of range(1, 200)) {
      commit.add(n)
      if (n % 4) continue
      try {
        await commit.flushed()
        t.same(written, range(1, n))
      } catch (error) {
        t.match(error, { code: 'EIO' })
        t.not(commit.failure, null)
        rejected++
      }
    }
    while (commit.waiting) await commit.flushed().catch(() => {})
    t.same(written, range(1, 200))
    t.ok(rejected > 10, `${rejected} rejections`)
    t.same([commit.failure, failures.at(-1)], [null, null])
  })

  t.test('tries again by itself', async (t) => {
    let tries = 0
    const done = new Promise<number[]>((resolve) => {
      const commit = createGroupCommit<number>({
        async write(items) {
          if (++tries < 3) throw new Error('not yet')
          return items.length
        },
        onWritten: resolve,
        onFailure() {},
        retryMs: 1,
      })
      commit.add(1)
    })
    const alive = setInterval(() => {}, 1000) // the retry alone keeps no process from ending
    t.same(await done, [1])
    clearInterval(alive)
  })
})
