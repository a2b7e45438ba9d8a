import t from 'tap'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** A message that a model reads and a person does not, in three alphabets. */
const MESSAGE = '\u{e0151}\u{e015c}\u2064\u2062\u{e0041}\u200b\u202e'
const HIDDEN = /[\u{e0000}-\u{e01ef}\u2060-\u2064\u200b\u202e\u061c]/gu

/** What a page shows, without what its forms edit as it is, and what only its scripts read. */
function shown(html: string): string {
  return html
    .replace(/<textarea.*?<\/textarea>/gs, '')
    .replace(/ (?:value|data-(?!confirm)[a-z-]+)="[^"]*"/g, '')
}

t.test('no page hides a message to a program in the texts that it shows', async (t) => {
  const service = await openTestService(t)
  const say = (words: string) => `${words}${MESSAGE} and stop`
  const parent = await service.newCase({ title: say('Parent') })
  const runbook = `# Plan\n\n${say('Run it')}\n\n- ${say('one')}\n\n> ${say('two')}\n\n${step(`echo "${MESSAGE}"`)}\n\n## Hypothesis\n\n${say('Because')}\n`
  const title = say('Title')
  const fields = {
    title,
    description: say('Described'),
    parent: parent.id,
  }
  const ref = await planned(service, { runbook, fields })
  const { case_id } = ref
  await must(service, 'POST', `${ref.path}/comments`, { line: 1, text: say('Comment') })
  await must(service, 'POST', `/cases/${case_id}/proof/checklist`, {
    description: say('Item'),
    type: 'test-log',
    required: true,
  })
  await must(service, 'PUT', `/cases/${case_id}/memory/notes.md`, `${say('Noted')}\n`)
  const named = encodeURIComponent('stop\u200b\u061c.md')
  await must(service, 'PUT', `/cases/${case_id}/memory/${named}`, `${say('Named')}\n`)
  const proof = await must(service, 'POST', `/cases/${case_id}/proof`, {
    type: 'operator-note',
    content: say('Proved'),
  })
  await must(service, 'PUT', `/cases/${case_id}/proof/${proof.id}/verify`, {})
  const asked = await service.newCase({ title: say('Question'), description: say('Title') })
  await must(service, 'PUT', `/cases/${asked.id}/state`, {
    state: 'NEEDS_USER_INPUT',
    reason: say('Which one?'),
  })
  await must(service, 'POST', `/cases/${asked.id}/answer`, { text: say('This one') })
  await must(service, 'PUT', `/cases/${asked.id}/state`, { state: 'WONT_FIX', reason: say('No') })
  const again = await newSession(service, case_id, { note: say('Note') })
  await reaches(service, again, 'plan_ready')

  const pages = [
    '/',
    `/case/${case_id}`,
    `/case/${case_id}?history=all`,
    `/case/${parent.id}`,
    `/case/${asked.id}`,
    `/case/${case_id}/session/1`,
    `/case/${case_id}/session/1?view=source`,
    `/case/${case_id}/session/1?view=diff`,
    `/case/${case_id}/session/2`,
    `/case/${case_id}/memory/notes.md`,
    `/case/${case_id}/memory/${named}`,
    `/case/${case_id}/memory/history.md`,
    `/case/${case_id}/memory/case.md`,
    `/case/${case_id}/memory/1.md`,
    `/case/${case_id}/proof/${proof.id}`,
    '/find?q=stop',
    '/agents',
    `/new?parent=${parent.id}`,
  ]
  for (const path of pages) {
    const { status, text } = await service.request('GET', path, undefined, { accept: 'text/html' })
    t.equal(status, 200, path)
    const found = [...shown(text).matchAll(HIDDEN)].map(({ index }) =>
      shown(text).slice(Math.max(0, index - 60), index),
    )
    t.strictSame(found, [], path)
  }
})

t.test(
  'a letter from right to left at the beginning of a text reorders no other words',
  async (t) => {
    const service = await openTestService(t)
    const said = '\u05d0 Do not delete the database \u05d1 ever'
    const runbook = `${said}\n\n${step('true')}\n\n## Hypothesis\n\n${said}\n`
    const ref = await planned(service, { runbook, fields: { title: said, description: said } })
    await must(service, 'POST', `${ref.path}/comments`, { line: 1, text: said })
    const asked = await service.newCase({ title: said })
    const state = { state: 'NEEDS_USER_INPUT', reason: said }
    await must(service, 'PUT', `/cases/${asked.id}/state`, state)
    for (const [path, count] of [
      ['/', 3],
      [`/case/${ref.case_id}`, 2],
      [`/case/${ref.case_id}/session/1`, 5],
      [`/case/${asked.id}`, 3],
      ['/find?q=database', 2],
    ] as const) {
      const { text } = await service.request('GET', path, undefined, { accept: 'text/html' })
      const tags = [...shown(text).matchAll(/<(\w+)[^>]*>\s*\u05d0 Do/g)]
        .filter(([, name]) => name !== 'title')
        .map(([tag]) => tag.replace(/\s*\u05d0.*/s, ''))
      t.ok(tags.length >= count, `${path}: ${tags}`)
      const reordering = tags.filter((tag) => /dir="(?:auto|rtl)"|<bdi(?! [^>]*dir=)/.test(tag))
      t.strictSame(reordering, [], path)
    }
  },
)
