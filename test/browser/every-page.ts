import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copySample } from '../../src/demo/sample-copy.ts'
import { NEEDS_YOU } from '../../src/model/state-groups.ts'
import { bringFile, eventually, inBrowser, isFocused, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { foundAgents } from '../fixtures/found-agents.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SAMPLE = new URL('../../sample-workspace', import.meta.url).pathname
const WAITING = '/case/c12d54ae-1933-4631-a05f-aecf75428827'
const RESOLVED = '/case/6802b34d-37d5-420a-afaa-e69e7f45a6ed'
const BLOCKED = '/case/3359e9da-452b-4dcf-aac6-71dadc60c8d1'
const PROOF = `${RESOLVED}/proof/1f769663-1cea-4781-a6c3-dba4891688a2`

/** Each kind of page, in the sample workspace, and words that it has to show. */
const PAGES: { path: string; shows: string[]; isShort?: true; isLarge?: true }[] = [
  {
    path: '/',
    shows: ['Signed out again right after signing in', 'Waiting for you'],
    isShort: true,
  },
  { path: '/?q=hash', shows: ['Two people with one password'] },
  { path: '/?q=nothing+has+this', shows: [] },
  { path: '/find?q=salt+xyzzy', shows: ['case.md:', 'Missing: xyzzy'] },
  { path: '/new', shows: [] },
  { path: '/configure', shows: [] },
  { path: '/agents', shows: ['No agent was heard'] },
  { path: WAITING, shows: ['Every token counts as expired'], isShort: true },
  { path: RESOLVED, shows: ['ConfirmedCodeBug'] },
  { path: BLOCKED, shows: [] },
  {
    path: `${WAITING}/session/1`,
    shows: ['Then run every test there is', 'npm test --silent'],
    isShort: true,
  },
  { path: `${RESOLVED}/session/1`, shows: ['src/password.js'] },
  { path: `${RESOLVED}/memory/review.md`, shows: ['NIST SP 800-132'], isShort: true },
  { path: `${RESOLVED}/memory/review.md?source`, shows: ['NIST SP 800-132'] },
  { path: PROOF, shows: ['Old hashes were tried'] },
  {
    path: '/docs',
    isLarge: true,
    shows: ['Whether a case may be RESOLVED', 'last-event-id', 'X-Service-Event', 'proof_gate'],
  },
  { path: '/help', shows: ['Help pages'] },
  { path: '/help/console', shows: ['On this page', 'Keys'] },
  { path: '/case/00000000-0000-4000-8000-000000000000', shows: ['not'] },
]
const LOOKED_AT = PAGES.filter(({ isShort, isLarge }) => (isLong ? isFull || !isLarge : isShort))

/** In place of the browser's own, which nobody sees here. */
const RECORD_NOTIFICATIONS = `
window.shown = []
window.Notification = function (title, { body }) { window.shown.push([title, body]) }
Notification.permission = 'granted'
Notification.requestPermission = async () => 'granted'`

inBrowser('every page, its keys and its forms', async (t, visitor) => {
  visitor.expect(/status of 4(?:04|12|22)|dialog: beforeunload/)
  const folder = mkdtempSync(join(tmpdir(), 'casefile-pages-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await copySample(SAMPLE, join(folder, 'sample'))
  const service = await openTestService(t, {
    files: { memory: t.fixture('symlink', join(folder, 'sample/memory')) },
    environment: foundAgents(folder),
  })
  const { url } = service
  const page = await visitor.open(`${url}/help`, { bypassCSP: true })

  await t.test('can be read by everybody, on a phone too; its keys are documented', async (t) => {
    const docs = readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8')
    const documented = keysIn(docs)
    for (const { path } of LOOKED_AT) {
      await page.goto(url + path)
      for (const colorScheme of isLong ? (['light', 'dark'] as const) : (['light'] as const)) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await axeViolations(page), [], `${path}, ${colorScheme}`)
      }
      await page.setViewportSize({ width: 360, height: 740 })
      const wide = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.equal(wide, 0, `${path}, on a phone`)
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.locator('#main').focus()
      await page.keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keys' })
      const keys = (await help.locator('dt').allInnerTexts()).flatMap((text) => text.split(' '))
      t.ok(keys.length > 5)
      t.strictSame(
        keys.filter((key) => key !== '?' && !documented.includes(key)),
        [],
        `${path}: the keys are in docs/console.md`,
      )
      await page.keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
    }
  })

  await t.test('times are told as people say them', async (t) => {
    const told = await page.evaluate(() => {
      const ages: [as: string, seconds: number][] = [
        ['ago', 59],
        ['ago', 61],
        ['ago', 3_599],
        ['ago', 3_601],
        ['ago', 26 * 3_600],
        ['ago', 6.5 * 86_400],
        ['waiting', 59],
        ['waiting', 61],
        ['running', 3_601],
        ['waiting', 47.5 * 3_600],
        ['waiting', 49 * 3_600],
      ]
      const times = ages.map(([as, seconds]) => {
        const time = document.createElement('time')
        time.dateTime = new Date(Date.now() - seconds * 1000).toISOString()
        time.dataset.as = as
        document.querySelector('main')!.append(time)
        return time
      })
      const old = document.createElement('time')
      old.dateTime = '2026-01-05T18:04:00.000Z'
      old.dataset.as = 'ago'
      const exact = document.createElement('time')
      exact.dateTime = old.dateTime
      document.querySelector('main')!.append(old, exact)
      document.dispatchEvent(new Event('refreshed'))
      return [...times, old, exact].map((time) => time.textContent)
    })
    t.strictSame(told, [
      'just now',
      '1 minute ago',
      '59 minutes ago',
      '1 hour ago',
      'yesterday',
      '6 days ago',
      'waiting < 1 min',
      'waiting 1 min',
      'running 1 h',
      'waiting 47 h',
      'waiting 2 days',
      '5 Jan 2026',
      '5 Jan 2026, 18:04:00',
    ])
  })

  await t.test(
    'a form sends its fields as the API takes them, and says what is wrong',
    async (t) => {
      await page.goto(`${url}/new`)
      const sent: unknown[] = []
      await page.route('**/tried', (route) => {
        sent.push([
          route.request().method(),
          route.request().headers()['if-match'],
          route.request().postDataJSON(),
        ])
        return route.fulfill({
          status: 422,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            code: 'invalid',
            detail: 'Wrong: too long.',
            errors: [
              { path: 'a', message: 'too long' },
              { path: 'b', message: 'too short' },
            ],
          }),
        })
      })
      await page.evaluate(() => {
        document.querySelector('main')!.insertAdjacentHTML(
          'beforeend',
          `<form id="tried" data-send="PATCH" action="/tried" data-if-match='"1"'>
          <input name="text" value=" as it is "><input name="empty" value="">
          <input name="omitted" data-empty="omit"><input name="nothing" data-empty="null">
          <input type="checkbox" name="on" checked><input type="checkbox" name="off">
          <input type="radio" name="one" value="a"><input type="radio" name="one" value="b" checked>
          <input name="spaces" data-list="spaces" value=" a, b  c "><input name="commas" data-list="commas" value="a b, c,">
          <input name="lines" data-list="lines" value="12-14"><input name="json" data-list="json" value="true">
          <textarea name="needs" data-list="requirements">Fast (benchmark, optional)</textarea>
          <input name="off2" value="x" disabled><button type="submit">Try</button></form>
        <form id="changed" data-send="PUT" action="/tried" data-only-changed>
          <input name="same" value="a"><input name="other" value="b">
          <select name="pick"><option value="1">1</option><option value="2" selected>2</option></select>
          <button type="submit">Change</button></form>`,
        )
      })
      const error = page.locator('#tried .form-error')
      await page.getByRole('button', { name: 'Try' }).click()
      t.equal(
        (await error.innerText()).replace(/\s+/g, ' ').trim(),
        'Wrong: too long. a: too long b: too short',
      )
      await page.locator('#changed [name=other]').fill('c')
      await page.selectOption('#changed select', '1')
      await page.locator('#changed [name=other]').press('Control+Enter')
      await page.locator('#changed .form-error').waitFor()
      t.strictSame(sent, [
        [
          'PATCH',
          '"1"',
          {
            text: ' as it is ',
            empty: '',
            nothing: null,
            on: true,
            off: false,
            one: 'b',
            spaces: ['a', 'b', 'c'],
            commas: ['a b', 'c'],
            line: 12,
            end_line: 14,
            json: true,
            needs: [{ description: 'Fast', type: 'benchmark', required: false }],
          },
        ],
        ['PUT', undefined, { other: 'c', pick: '1' }],
      ])
    },
  )

  await t.test('the setup says what it would write, and keeps what was typed', async (t) => {
    await page.goto(`${url}/configure`)
    await page.locator('#setup-answers[data-agents=known]').waitFor()
    const plan = page.locator('#setup-plan')
    const says = (expected: string) =>
      eventually(
        () => plan.innerText(),
        (text) => text.includes(expected),
      )
    await page.getByRole('radio', { name: /^Claude Code/ }).check()
    t.ok(await page.locator('#setup-where').isVisible())
    await page.getByRole('radio', { name: /^I do, in my terminal/ }).check()
    await says('.claude/settings.local.json')
    await page.getByRole('radio', { name: /^No agent/ }).check()
    t.notOk(await page.locator('#setup-where').isVisible(), 'nobody starts an agent')
    await page.fill('#setup-tests', 'npm run fast')
    await says('casefile.md')
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.locator('#setup-answers:not([aria-busy])').waitFor()
    t.equal(await page.inputValue('#setup-tests'), 'npm run fast')
    t.ok(await page.getByRole('radio', { name: /^No agent/ }).isChecked())
    writeFileSync(join(service.root, 'casefile.md'), '---\nprovider: codex # mine\n---\n')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/was changed after this form.*provider: codex/).waitFor()
    t.match(readFileSync(join(service.root, 'casefile.md'), 'utf8'), '# mine')
    await page.getByRole('radio', { name: /^All tests pass/ }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL(`${url}/`)
    t.match(await must(service, 'GET', '/setup'), {
      provider: 'runbook',
      tests: { command: 'npm run fast' },
      checklist: ['All tests pass (test-log, required)'],
    })
  })

  await t.test('a sync says what was sent, received, kept and lost', async (t) => {
    const id = RESOLVED.split('/')[2]
    const moved = { commits: 0, cases: [] as object[] }
    const result = {
      state: 'conflicts',
      code: null,
      reason: null,
      at: new Date().toISOString(),
      upstream: 'origin/main',
      committed: null,
      received: { commits: 1, cases: [{ id, title: 'Sign-in <b>fails</b>' }] },
      sent: {
        commits: 2,
        cases: Array.from({ length: 7 }, (_, at) => ({ id, title: `No ${at}` })),
      },
      copies: [
        { case_id: id, file: `cases/${id}/case.md`, copy: `cases/${id}/case.conflict-1.md` },
      ],
      renumbered: [{ case_id: id, from: 1, to: 2 }],
      restored: [{ case_id: id }],
      broken: [{ file: `cases/${id}/history.md`, message: 'no heading' }],
    }
    const status = {
      kind: 'own',
      upstream: 'origin/main',
      reason: null,
      ahead: 2,
      behind: 1,
      uncommitted: 3,
      last: null as object | null,
    }
    await page.route('**/sync', (route) =>
      route.fulfill({ json: route.request().method() === 'POST' ? result : status }),
    )
    await page.goto(url)
    await page
      .getByText('3 changed files and 2 commits to send, 1 to receive · no sync yet')
      .waitFor()
    Object.assign(status, { ahead: 0, uncommitted: 0, last: result })
    await page.getByRole('button', { name: 'Sync' }).click()
    await page.getByText('1 commit to receive · last sync just now').waitFor()
    const said = (await page.locator('#sync-result').innerText()).replace(/\s+/g, ' ')
    for (const part of [
      'In sync with origin/main, but something needs you.',
      'case.md could not be merged. Yours stays; the other version is case.conflict-1.md.',
      'history.md came from others, and cannot be read: no heading',
      'Sent 2 commits: No 0, No 1, No 2, No 3, No 4 and 2 more cases',
      'Received 1 commit: Sign-in <b>fails</b>',
      'stays: it was deleted in one clone and changed in another.',
      'session 1 is now session 2, as two clones had used its number.',
    ])
      t.match(said, part)
    Object.assign(result, {
      state: 'stopped',
      reason: 'The remote is away.',
      code: 'x',
      sent: moved,
    })
    await page.getByRole('button', { name: 'Sync' }).click()
    await page.getByText('Nothing was sent. The remote is away.').waitFor()
    await page.reload()
    await page.getByText('Nothing was sent. The remote is away.').waitFor()
    await page.unroute('**/sync')
  })

  await t.test('Ctrl K leads to cases, actions, files and settings', async (t) => {
    await page.goto(url + RESOLVED)
    await isLive(page)
    const palette = page.getByRole('dialog', { name: 'Search or jump to' })
    const chosen = palette.locator('[aria-selected=true]')
    const open = async (typed: string, title: string) => {
      await page.keyboard.press('Control+k')
      await palette.waitFor()
      await page.keyboard.type(typed)
      await chosen.getByText(title).waitFor()
    }
    await page.focus('#set-state > summary')
    await page.keyboard.press('Control+k')
    await palette.getByText('Recent cases').waitFor()
    await palette.getByText('Session 1: implementing').waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await isFocused(page, '#set-state > summary')
    await open('attach', 'Attach proof')
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    await page.locator('#attach-form').waitFor()
    await page.keyboard.press('Escape')
    for (const [words, key] of [
      ['keys off', null],
      ['keys on', 'g'],
    ] as const) {
      await open(words, `Turn single ${words}`)
      await page.keyboard.press('Enter')
      await palette.waitFor({ state: 'detached' })
      t.equal(await page.locator('[data-key=g]').getAttribute('aria-keyshortcuts'), key)
      await page.keyboard.press('?')
      t.equal(await page.locator('dialog.keys-help').count(), key === null ? 0 : 1)
      await page.keyboard.press('Escape')
      await page.locator('dialog.keys-help').waitFor({ state: 'detached' })
    }
    await open('hw lng', 'How long should a sign-in last?')
    await palette.getByText('Search all content for “hw lng”').waitFor()
    await page.keyboard.press('ArrowUp')
    t.match(await chosen.innerText(), 'Search all content', 'from the first to the last')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/case/f31d0e43-a96a-4ba5-a763-cefea030aa5e')
  })

  const { id } = await service.newCase({ title: 'Step by step', tags: ['needs', 'speed'] })
  const api = `/cases/${id}`
  const put = (path: string, body: object | string) => must(service, 'PUT', `${api}${path}`, body)

  await t.test(
    'a file is edited by two: the second is asked, and no line end changes',
    async (t) => {
      await put('/memory/notes.md', 'What both know.\r\n')
      const text = async () => (await service.request('GET', `${api}/memory/notes.md`)).text
      await page.goto(`${url}/case/${id}/memory/notes.md`)
      await isLive(page)
      await page.keyboard.press('e')
      const area = page.locator('#memory-source')
      await isFocused(page, '#memory-source')
      await put('/memory/notes.md', 'What all know.\r\n')
      await eventually(
        () => area.inputValue(),
        (value) => value === 'What all know.\n',
      )
      await area.fill('What all know.\nMine.\n')
      await put('/memory/notes.md', 'What all know.\r\nTheirs.\r\n')
      const panel = page.locator('#memory-editor .conflict')
      await panel.getByText('The file changed while you were editing.').waitFor()
      t.match((await panel.innerText()).replace(/\s+/g, ' '), /Theirs\..*Mine\./)
      t.equal(await area.inputValue(), 'What all know.\nMine.\n')
      await panel.getByRole('button', { name: 'Use theirs' }).click()
      t.equal(await area.inputValue(), 'What all know.\nTheirs.\n')
      t.equal(await page.locator('.memory-form[data-dirty]').count(), 0)
      await page.getByRole('button', { name: 'Restore mine' }).click()
      await page.keyboard.press('Control+s')
      await page.getByText('Saved.', { exact: true }).waitFor()
      t.equal(await text(), 'What all know.\r\nMine.\r\n')
      await page.locator('#memory-text').getByText('Mine.').waitFor()

      await page.click('#edit-memory')
      await area.fill('Not this.')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('Your changes are not saved.').waitFor()
      await page.getByRole('button', { name: 'Discard' }).click()
      t.equal(await area.count(), 0)
      t.equal(await text(), 'What all know.\r\nMine.\r\n')
    },
  )

  await t.test('a new file begins with its template', async (t) => {
    await page.goto(`${url}/case/${id}`)
    await isLive(page)
    await page.getByText('New file', { exact: true }).click()
    await page.getByLabel('Name').fill('runbook.md')
    await page.getByRole('button', { name: 'Create file' }).click()
    await page.waitForURL('**/memory/runbook.md')
    await eventually(
      () => page.locator('#memory-source').inputValue(),
      (value) => value.startsWith('## Hypothesis'),
    )
    await page.getByRole('button', { name: 'Cancel' }).click()
    t.equal(await page.locator('#memory-source').count(), 0, 'nothing was typed')
  })

  await t.test('the forms of a case follow it, and ask where two changed one field', async (t) => {
    const tab = await visitor.beside(page, `${url}/docs`)
    await page.bringToFront()
    await page.goto(`${url}/case/${id}`)
    await isLive(page)
    await page.click('#add-item > summary')
    await isFocused(page, '#item-description')
    await page.keyboard.press('Escape')
    await isFocused(page, '#add-item > summary')
    await page.keyboard.press('Enter')
    await page.fill('#item-description', 'Nice to have')
    await page.getByText('Required to resolve the case').click()
    await page.locator('#item-description').press('Enter')
    await isFocused(page, '#add-item > summary')
    const { items } = await must(service, 'GET', `${api}/gate`)
    t.match(items.at(-1), { description: 'Nice to have', type: 'test-log', required: false })

    await page.keyboard.press('e')
    await put('', { title: 'Renamed' })
    const title = page.locator('#edit-title')
    await eventually(
      () => title.inputValue(),
      (value) => value === 'Renamed',
    )
    await title.fill('Mine')
    await put('', { type: 'chore' })
    await eventually(
      () => page.inputValue('#edit-type'),
      (value) => value === 'chore',
    )
    t.equal(await page.locator('.conflict').count(), 0, 'another field is no conflict')
    await put('', { title: 'Theirs' })
    const panel = page.locator('#edit-case .conflict')
    await panel.getByText('The case changed while you were editing').waitFor()
    t.match(await panel.innerText(), 'Title on disk: Theirs')
    t.equal(await title.inputValue(), 'Mine')
    await panel.getByRole('button', { name: 'Keep editing' }).click()
    await put('', { type: 'task' })
    await eventually(
      () => page.inputValue('#edit-type'),
      (value) => value === 'task',
    )
    t.equal(await panel.count(), 0, 'it is asked once')
    t.equal(await title.inputValue(), 'Mine')
    await put('', { title: 'Theirs again' })
    await panel.getByRole('button', { name: 'Overwrite with mine' }).click()
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor()
    const saved = { title: 'Mine', type: 'task', tags: ['needs', 'speed'] }
    t.match(await must(service, 'GET', api), saved)

    await page.keyboard.press('t')
    await page.selectOption('#new-state', 'BLOCKED')
    await put('/state', { state: 'NEEDS_USER_INPUT', reason: 'May I rename the file?' })
    const state = page.locator('#set-state-form')
    await state.getByText('The state changed while you were editing.').waitFor()
    await state.getByRole('button', { name: 'Use theirs' }).click()
    t.equal(await page.inputValue('#new-state'), 'NEEDS_USER_INPUT')
    await state.getByRole('button', { name: 'Cancel' }).click()

    await page.keyboard.press('a')
    await isFocused(page, '#answer-text')
    await page.keyboard.type('yes')
    await must(service, 'POST', `${api}/answer`, { text: 'no' })
    await put('/state', { state: 'NEEDS_USER_INPUT', reason: 'May I delete the data?' })
    const asked = page.locator('#answer-form .conflict')
    await asked.getByText('The question changed while you were editing.').waitFor()
    t.equal(await asked.getByRole('button', { name: 'Use theirs' }).count(), 0)
    t.match(await must(service, 'GET', api), { state: 'NEEDS_USER_INPUT' })
    await asked.getByRole('button', { name: 'Keep editing' }).click()
    await page.fill('#answer-text', 'no, never')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.locator('#history').getByText('no, never').waitFor()

    await bringFile(page, 'paste', Buffer.from([0, 1, 2]))
    await page.getByText(/neither UTF-8 text nor a PNG/).waitFor()
    await page.locator('#proof-file').setInputFiles({
      name: 'fast.tap',
      mimeType: 'text/plain',
      buffer: Buffer.from('of\r\nfast.tap\n'),
    })
    await page.locator('#chosen-file').getByText('fast.tap, 13 bytes').waitFor()
    t.equal(await page.inputValue('#proof-type'), 'test-log')
    await page.getByRole('button', { name: 'Attach', exact: true }).click()
    await page.locator('#proof li').getByText('fast.tap').waitFor()
    t.match(await must(service, 'GET', `${api}/proof`), [
      { type: 'test-log', content: 'of\r\nfast.tap\n' },
    ])

    for (const each of [page, tab]) await each.evaluate(RECORD_NOTIFICATIONS)
    await tab.locator('#notify').click()
    await page.locator('#notify[aria-pressed=true]').waitFor()
    const ref = await planned(service, { runbook: step('true'), fields: { title: 'Notified' } })
    const shown = async () =>
      (
        await Promise.all(
          [page, tab].map((each) =>
            each.evaluate(() => (window as unknown as { shown: string[][] }).shown),
          ),
        )
      ).flat()
    await eventually(shown, (list) => list.length > 0)
    const waiting = await service.request('GET', `/triage?needs=${NEEDS_YOU.join()}&limit=1`)
    const count = waiting.headers['x-total-count']
    await tab.locator(`#waiting-count[data-count="${count}"]`).waitFor()
    t.match(await shown(), [[/Notified/, 'The plan of session 1 is ready']])
    t.equal((await shown()).length, 1, 'one of the tabs says it')
    await must(service, 'POST', `${ref.path}/abandon`, {})
    await tab.close()

    await page.keyboard.press('e')
    await title.fill('Not saved')
    renameSync(service.file(id), `${service.file(id)}-away`)
    await page.locator('#gone').getByText('Your unsaved text is still here').waitFor()
    t.equal(await page.locator('main [type=submit]:not(:disabled)').count(), 0)
    renameSync(`${service.file(id)}-away`, service.file(id))
    await page.locator('#gone').waitFor({ state: 'detached' })
    t.equal(await title.inputValue(), 'Not saved')
    t.equal(await page.locator('main [type=submit]:disabled').count(), 0)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => dialogs.push(dialog.type()))
    await page.goto(url)
    t.strictSame(dialogs, ['beforeunload'], 'it asks before what was written is left')
  })

  await t.test('without JavaScript it can be read, and offers nothing else', async (t) => {
    const plain = await visitor.open(url, { javaScriptEnabled: false })
    for (const { path, shows } of isLong ? PAGES : LOOKED_AT) {
      await plain.goto(url + path)
      const text = (await plain.locator('main').innerText()).toLowerCase()
      for (const words of shows) t.ok(text.includes(words.toLowerCase()), `${path}: ${words}`)
      t.equal(await plain.locator('h1').count(), 1, `${path} has one heading of the first level`)
      const actions = 'main form[data-send]:visible, main button:not(form[method=get] *):visible'
      t.equal(await plain.locator(actions).count(), 0, `${path} offers nothing that needs it`)
    }
  })
})

/** Those of the first column of the table. */
function keysIn(text: string): string[] {
  const cells = [...text.matchAll(/^(?:\| )?(`.*?) \|/gm)].map(([, cell]) => cell!)
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key]) => key!))
}
