// What a request looks at does not grow with the number of files in a case.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { mock } from 'node:test'
import t from 'tap'
import { before } from '../fixtures/disk-calls.ts'
import { listen } from '../fixtures/published-events.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test(
  'requests look at no memory file of many, and the watcher only at what changed',
  async (t) => {
    // no rescan but those that the test asks for
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const id = randomUUID()
    const names = Array.from({ length: 1100 }, (_, n) => `note-${n}.md`)
    const notes = Object.fromEntries(names.map((name) => [name, 'Text.\n']))
    const app = await openTestService(t, {
      files: { memory: { cases: { [id]: { 'case.md': '---\ntitle: Many\n---\n', ...notes } } } },
    })
    await app.service.watched()
    const published = listen(t, app)
    await published.newEvents()

    const looked = new Set<string>()
    before(t, 'lstatSync', (path) => looked.add(basename(path)))
    const lookedAt = () => names.filter((name) => looked.has(name))
    t.match(await app.request('PUT', `/cases/${id}`, { title: 'New' }), { status: 200 })
    t.match(await app.request('GET', `/cases/${id}`), { json: { title: 'New' } })
    t.ok(looked.has('case.md'))
    t.same(lookedAt(), [])

    writeFileSync(app.file(id, 'note-7.md'), 'Changed.\n')
    writeFileSync(app.file(id, 'note-new.md'), 'New.\n')
    const seen = (filename: string) =>
      published.next(({ payload }) => payload.filename === filename)
    await Promise.all(['note-7.md', 'note-new.md'].map(seen))
    await app.request('PUT', `/cases/${id}`, { title: 'Newer' })
    t.same(lookedAt(), ['note-7.md'])

    // what no event named is found by the comparison of all files
    await published.newEvents()
    t.same(lookedAt(), names)

    const { text } = await app.request('GET', `/case/${id}`, undefined, { accept: 'text/html' })
    t.match(text, '903 more are only in the files.')
    const whole = await app.request('GET', `/cases/${id}/memory`)
    const parts: unknown[] = []
    let next: string | undefined = `/cases/${id}/memory?limit=1000`
    while (next) {
      const part = await app.request('GET', next)
      parts.push(...part.json)
      next = /^<(.*)>; rel="next"$/.exec(part.headers.link ?? '')?.[1]
    }
    t.same(parts, whole.json)

    // also where the case comes from the database, in parts
    const { last } = app.service.eventLog
    await app.restart()
    t.same((await app.request('GET', `/cases/${id}/memory`)).json, whole.json)
    await app.service.start.begun
    t.equal(app.service.eventLog.last, last)

    // a save in place while no service ran
    await app.close()
    writeFileSync(app.file(id, 'note-8.md'), 'Saved meanwhile.\n')
    await app.restart()
    await app.service.start.begun
    t.equal(app.service.eventLog.last, last + 1)
  },
)
