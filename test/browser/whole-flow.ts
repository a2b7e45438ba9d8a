import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copySample } from '../../src/demo/sample-copy.ts'
import {
  bringFile,
  eventually,
  holdBack,
  inBrowser,
  isFocused,
  isLive,
} from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { foundAgents } from '../fixtures/found-agents.ts'
import { inLongLane, isFull, isLong } from '../fixtures/full.ts'
import { pngOf } from '../fixtures/pictures.ts'
import { git, must, step } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'
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
    shows: ['Signed out again right after signing in', 'need you'],
  },
  { path: '/?q=hash', shows: ['Two people with one password'] },
  { path: '/?q=nothing+has+this', shows: [] },
  { path: '/find?q=salt+xyzzy', shows: ['case.md:', 'Missing: xyzzy'] },
  { path: '/new', shows: [] },
  { path: '/configure', shows: [] },
  { path: '/agents', shows: ['No agent was heard'] },
  { path: '/inbox', shows: ['Signed out again right after signing in', 'Workspaces'] },
  { path: WAITING, shows: ['Every token counts as expired'] },
  { path: RESOLVED, shows: ['Confirmed code bug'] },
  { path: BLOCKED, shows: [] },
  {
    path: `${WAITING}/session/1`,
    shows: ['Then run every test there is', 'npm test --silent'],
    isShort: true,
  },
  { path: `${RESOLVED}/session/1`, shows: ['src/password.js'] },
  { path: `${RESOLVED}/memory/review.md`, shows: ['NIST SP 800-132'] },
  { path: `${RESOLVED}/memory/review.md?source`, shows: ['NIST SP 800-132'] },
  { path: PROOF, shows: ['Old hashes were tried'] },
  {
    path: '/help/requests',
    isLarge: true,
    shows: ['Whether a case may be RESOLVED', 'Last-Event-ID', 'createCase'],
  },
  { path: '/help', shows: ['Help pages'] },
  { path: '/help/console', shows: ['On this page', 'Keys'] },
  { path: '/case/00000000-0000-4000-8000-000000000000', shows: ['not'] },
]
const LOOKED_AT = PAGES.filter(({ isShort, isLarge }) => (isLong ? isFull || !isLarge : isShort))

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

  await t.test('the setup keeps what was typed, also where casefile.md has changed', async (t) => {
    await page.goto(`${url}/configure`)
    await page.locator('#setup-answers[data-agents=known]').waitFor()
    await page.getByRole('radio', { name: /^No agent/ }).check()
    await page.fill('#setup-tests', 'npm run fast')
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.locator('#setup-answers:not([aria-busy])').waitFor()
    t.equal(await page.inputValue('#setup-tests'), 'npm run fast')
    t.ok(await page.getByRole('radio', { name: /^No agent/ }).isChecked())
    writeFileSync(join(service.root, 'casefile.md'), '---\nprovider: codex # mine\n---\n')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/casefile\.md is not what you read/).waitFor()
    t.match(readFileSync(join(service.root, 'casefile.md'), 'utf8'), '# mine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL(`${url}/`)
    const saved = readFileSync(join(service.root, 'casefile.md'), 'utf8')
    t.match(saved, /^provider: runbook/m)
    t.match(saved, /^tests: npm run fast$/m)
    t.match(saved, 'All tests pass (test-log, required)')
  })

  await t.test('Ctrl K leads to cases and actions', async (t) => {
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
    await page.focus('#menu > summary')
    await page.keyboard.press('Control+k')
    await palette.getByText('How long should a sign-in last?').waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await isFocused(page, '#menu > summary')
    await open('attach', 'Attach proof')
    await palette.locator('a[href^="/case/"]').first().waitFor() // which comes later, and below it
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    await page.locator('#attach-form').waitFor()
    await page.keyboard.press('Escape')
    await open('how long sign', 'How long should a sign-in last?')
    await palette.getByText('All results for “how long sign”').waitFor()
    await page.keyboard.press('ArrowUp')
    t.match(await chosen.innerText(), 'All results', 'from the first to the last')
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
    },
  )

  await t.test('a new file begins with its template', inLongLane, async (t) => {
    await page.goto(`${url}/case/${id}`)
    await isLive(page)
    await page.click('#menu > summary')
    await page.getByRole('button', { name: 'Files' }).click()
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
    await page.goto(`${url}/case/${id}`)
    await isLive(page)
    const add = page.getByRole('button', { name: 'Add a requirement' })
    await page.click('#menu > summary')
    await add.click()
    await isFocused(page, '#item-description')
    await page.keyboard.press('Escape')
    t.notOk(await page.locator('#opened').isVisible())
    await page.click('#menu > summary')
    await add.press('Enter')
    await page.fill('#item-description', 'Nice to have')
    await page.getByText('Required to resolve the case').click()
    await page.locator('#item-description').press('Enter')
    await page.locator('#gate').getByText('Nice to have').waitFor()
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
    await put('', { title: 'Theirs again' })
    await panel.getByRole('button', { name: 'Overwrite with mine' }).click()
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor()
    const saved = { title: 'Mine', type: 'chore', tags: ['needs', 'speed'] }
    t.match(await must(service, 'GET', api), saved)

    if (isLong) await stateAndAnswer()

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

    async function stateAndAnswer() {
      await page.keyboard.press('t')
      await page.selectOption('#new-state', 'BLOCKED')
      await put('/state', { state: 'NEEDS_USER_INPUT', reason: 'May I rename the file?' })
      const state = page.locator('#set-state-form')
      await state.getByText('The state changed while you were editing.').waitFor()
      await state.getByRole('button', { name: 'Use theirs' }).click()
      t.equal(await page.inputValue('#new-state'), 'NEEDS_USER_INPUT')
      await state.getByRole('button', { name: 'Cancel' }).click()

      await page.keyboard.press('a')
      await page.waitForURL(/#answer-text$/)
      await page.focus('#answer-text')
      await page.keyboard.type('yes')
      await must(service, 'POST', `${api}/answer`, { text: 'no' })
      await put('/state', { state: 'NEEDS_USER_INPUT', reason: 'May I delete the data?' })
      const asked = page.locator('#answer-form .conflict')
      await asked.getByText('The question changed while you were editing.').waitFor()
      t.equal(await asked.getByRole('button', { name: 'Use theirs' }).count(), 0)
      t.match(await must(service, 'GET', api), { state: 'NEEDS_USER_INPUT' })
      await asked.getByRole('button', { name: 'Keep editing' }).click()
      await page.fill('#answer-text', 'no, never')
      await page.locator('#answer-form').getByRole('button', { name: 'Answer' }).click()
      await page.locator('#history').getByText('no, never').waitFor()
    }
  })

  await t.test(
    'without JavaScript it can be read, and offers nothing else',
    inLongLane,
    async (t) => {
      const plain = await visitor.open(url, { javaScriptEnabled: false })
      for (const { path, shows } of PAGES) {
        await plain.goto(url + path)
        const text = (await plain.locator('main').innerText()).toLowerCase()
        for (const words of shows) t.ok(text.includes(words.toLowerCase()), `${path}: ${words}`)
        t.equal(await plain.locator('h1').count(), 1, `${path} has one heading of the first level`)
        const actions = 'main form[data-send]:visible, main button:not(form[method=get] *):visible'
        t.equal(await plain.locator(actions).count(), 0, `${path} offers nothing that needs it`)
      }
    },
  )
})

/** Those of the first column of the table. */
function keysIn(text: string): string[] {
  const cells = [...text.matchAll(/^(?:\| )?(`.*?) \|/gm)].map(([, cell]) => cell!)
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key]) => key!))
}

const HELLO = step(
  [
    `printf '\\033[32mhello\\033[0m from the step\\n'`,
    'echo oh yes >&2',
    'echo "const a = 1" > made-1.js',
    'echo "const b = 2" > made-2.js',
  ].join('\n'),
  'sh run id=hello',
)
const WAIT = step(
  'echo begun; until test -e go; do sleep 0.05; done; echo error: gone',
  'sh run id=wait',
)
const TEST = step(`printf 'TAP version 13\\nok 1 - works\\n1..1\\n'`, 'sh run id=test proof=tap')
const RUNBOOK = `Say the first hello.\n\n- keep it short\n\n${HELLO}\n${WAIT}\n${TEST}`

/** One more than a page of the list has, where pages are turned. */
const MANY = isLong ? 101 : 3
/** Which is searched for. */
const FOUND = isLong ? 77 : 2
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const CASES = Object.fromEntries(
  Array.from({ length: MANY }, (_, at) => [
    idOf(at + 1),
    {
      'case.md': `---\nid: ${idOf(at + 1)}\ntitle: Case number ${at + 1}\ncreated_at: 2026-01-05T08:00:00.000Z\nstate: OPEN\ntype: ${at === 0 ? 'chore' : 'bug'}\n---\n\nOne of many.\n`,
    },
  ]),
)

inBrowser('the record is synced from the list', async (t, visitor) => {
  const clone = await openSyncedClone(t, { dir: makeOrigin(t), name: 'a' })
  await must(clone, 'POST', '/cases', { title: 'Sign-in <b>fails</b>' })
  const page = await visitor.open(clone.url)
  await page.getByText(/^\d changed files? to send · no sync yet$/).waitFor()
  await page.getByRole('button', { name: 'Sync' }).click()
  await page.getByText('Nothing to send · last sync just now').waitFor()
  const said = (await page.locator('.sync-report').innerText()).replace(/\s+/g, ' ')
  t.match(said, 'In sync with origin/main. Sent 1 commit: Sign-in <b>fails</b>')
})

inBrowser('from the list and a new case to RESOLVED, with a second tab', async (t, visitor) => {
  visitor.expect(/status of 4(?:09|12)|ERR_FAILED/)
  const files = { memory: { cases: CASES }, '.gitignore': '/memory/\n/go\n', 'a.js': 'let a\n' }
  const service = await openTestService(t, { files })
  git(service.root, 'init', '-q')
  git(service.root, 'add', '.')
  git(service.root, 'commit', '-qm', 'first')
  const page = await visitor.open(service.url)
  await isLive(page)
  const mark = () => page.evaluate(() => Object.assign(window, { sameDocument: true }))
  const isSame = () => page.evaluate(() => 'sameDocument' in window)
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  const unfiltered = () => page.getByText(`1 of ${MANY} cases`).waitFor({ state: 'detached' })

  await t.test('the list is walked, filtered and searched without loading it again', async (t) => {
    await mark()
    const rows = page.locator('[data-row]')
    const first = await rows.first().textContent()
    await page.keyboard.press('j')
    t.equal(await focused(), first)
    if (isLong) {
      await page.keyboard.press(']')
      await page.getByText('page 2 of 2').waitFor()
      t.match(page.url(), /\/\?page=2$/)
      t.equal(await rows.count(), MANY - 100)
      await eventually(focused, (text) => text === 'Case number 101' || text !== first)
      t.equal(await focused(), await rows.first().textContent(), 'the first row has the focus')
      await page.keyboard.press('[')
      await page.getByText('page 1 of 2').waitFor()
      await eventually(focused, (text) => text === first)
    }
    await page.keyboard.press('j')
    t.equal(await focused(), await rows.nth(1).textContent())
    await page.keyboard.press('k')
    t.equal(await focused(), first)

    await page.keyboard.press('f')
    await page.selectOption('#filter-type', 'chore')
    await page.getByText(`1 of ${MANY} cases`).waitFor()
    t.match(page.url(), /\/\?type=chore$/)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await unfiltered()

    await page.keyboard.press('/')
    await page.keyboard.type(`number ${FOUND}`)
    await page
      .locator('dialog.palette [aria-selected=true]')
      .getByText(`Case number ${FOUND}`, { exact: true })
      .waitFor()
    t.ok(await isSame(), 'the same document')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/case/${idOf(FOUND)}`)
    await isLive(page)
    await page.keyboard.press('g')
    await page.waitForURL(service.url)
    await isLive(page)
  })

  await t.test('a case says what would prove it, and is planned at once', async (t) => {
    await page.keyboard.press('n')
    await page.waitForURL('**/new')
    await isFocused(page, '#new-title')
    await page.keyboard.type('It does not say hello')
    await page.fill('#new-description', RUNBOOK)
    await page.getByText('More:').click()
    await page.fill('#new-type', 'feature')
    await page.getByRole('button', { name: 'All tests pass' }).click()
    await page.keyboard.type('Looks right on a phone (screenshot)\nFaster (benchmark, optional)')
    t.match(
      await page.locator('#requirement-preview').innerText(),
      /All tests pass test-log, required[\s\S]*Faster benchmark, optional/,
    )
    await page.click('#create-and-plan')
    await page.waitForURL('**/session/1')
    const { items } = await must(service, 'GET', `/cases/${idIn(page.url())}/gate`)
    t.match(items, [
      { type: 'test-log', required: true },
      { type: 'screenshot', required: true },
      { type: 'benchmark', required: false },
    ])
  })

  const address = page.url()
  const id = idIn(address)
  const [{ id: sid }] = await must(service, 'GET', `/cases/${id}/sessions`)
  const api = `/cases/${id}/sessions/${sid}`
  const session = () => must(service, 'GET', api)
  const file = service.file(id, 'sessions', '1.md')
  const approve = page.locator('#approve-button')
  const notice = page.locator('#plan-changed')
  const shows = (text: string) => page.locator('#plan-text').getByText(text).waitFor()
  const change = (from: string, to: string) =>
    writeFileSync(file, readFileSync(file, 'utf8').replace(`the ${from} hello`, `the ${to} hello`))
  const isEnabled = (is: boolean, why?: string) =>
    eventually(async () => (await approve.isEnabled()) === is || why)
  const rename = async (title: string) => {
    await must(service, 'PUT', `/cases/${id}`, { title })
    await page.locator('.crumbs').getByText(title, { exact: true }).waitFor()
  }
  await page.locator('#approve-button').waitFor()
  // the description gives the steps alone
  await must(service, 'PUT', `${api}/plan`, { plan: RUNBOOK })
  await page.goto(address)
  await isLive(page)
  await mark()

  await t.test('a plan is commented on, by pointer, key and number', async (t) => {
    await page.locator('#step-hello').evaluate((step) => step.scrollIntoView({ block: 'start' }))
    await page.locator('#plan-text').getByText('keep it short').hover()
    await page.locator('#comment-plus').click()
    const composer = page.locator('.comment-composer textarea')
    await composer.fill('How short?')
    await page.getByText('You have an unsaved comment').waitFor()
    t.notOk(await approve.isEnabled())
    await rename('It should say hello')
    t.equal(await composer.inputValue(), 'How short?', 'a refresh leaves it')
    t.notOk(await approve.isEnabled(), 'and does not enable Approve')
    await page.keyboard.press('Control+Enter')
    await page.locator('#plan-text .comment-text').getByText('How short?').waitFor()
    await isFocused(page, '.comment')

    await page.locator('#main').focus()
    await page.keyboard.press('c')
    await isFocused(page, '#comment-text')
    await page.keyboard.type('All of it')
    await page.fill('#comment-lines', '1-3')
    await page.keyboard.press('Control+Enter')
    await page.locator('#plan-text .comment-text').getByText('All of it').waitFor()
    await page.getByText('Approve with 2 notes').waitFor()
    const drafts = (await must(service, 'GET', api)).comments.list
    t.match(drafts, [
      { line: 3, end_line: null, quote: '- keep it short', text: 'How short?', status: 'draft' },
      { line: 1, end_line: 3, text: 'All of it' },
    ])
    await page
      .locator('.comment', { hasText: 'How' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByText('Approve with 1 note', { exact: true }).waitFor()
    await must(service, 'DELETE', `${api}/comments/${drafts[1].id}`)
    await page.getByText('Approve and run 3 steps').waitFor()
  })

  await t.test('two who edit one plan: the second chooses, and nothing is lost', async (t) => {
    await page.keyboard.press('e')
    await isFocused(page, '#edit-plan')
    const { plan } = await session()
    const mine = plan.replace('the first hello', 'the second hello')
    await page.fill('#edit-plan', mine)
    t.notOk(await approve.isEnabled())
    await rename('It must say hello')
    t.notOk(await approve.isEnabled())
    await page.click('#show-unsaved')
    await isFocused(page, '#edit-plan')
    await page.getByRole('button', { name: 'Discard' }).click()
    await isEnabled(true, 'nothing is unsaved')
    t.equal(await page.locator('.unsaved-warning').count(), 0)

    await page.keyboard.press('e')
    await page.fill('#edit-plan', mine)
    const theirs = plan.replace('the first hello', 'the third hello')
    await must(service, 'PUT', `${api}/plan`, { plan: theirs, hypothesis: 'Theirs.' })
    const panel = page.locator('#edit-form .conflict')
    await panel.getByText('The plan changed while you were editing.').waitFor()
    t.equal(await page.inputValue('#edit-plan'), mine)
    t.equal(await page.inputValue('#edit-hypothesis'), 'Theirs.', 'what is not touched follows')
    await panel.getByRole('button', { name: 'Use theirs' }).click()
    t.equal(await page.inputValue('#edit-plan'), theirs)
    await panel.getByRole('button', { name: 'Restore mine' }).click()
    t.equal(await page.inputValue('#edit-plan'), mine)
    await page.getByRole('button', { name: 'Save the plan' }).click()
    await shows('the second hello')
    await isEnabled(true, 'who saves a plan has read it')
    t.match(await session(), { hypothesis: 'Theirs.', state: 'plan_ready' })
    await isFocused(page, '#approve-button')
  })

  const other = await visitor.beside(page, address)
  await isLive(other)
  await page.bringToFront()
  await t.test('Approve is enabled only for the text that was reviewed, in each tab', async (t) => {
    const reviewed = page.getByRole('button', { name: "I've reviewed the changes" })
    t.ok(await other.locator('#approve-button').isEnabled())
    change('second', 'third')
    await shows('the third hello')
    await isEnabled(false)
    t.match(await notice.innerText(), /just changed/)
    const early = await reviewed.elementHandle()
    change('third', 'fourth')
    await shows('the fourth hello')
    await notice.getByText('changed again').waitFor()
    t.equal(await notice.count(), 1)
    await early!.evaluate((button: HTMLElement) => button.click())
    t.notOk(await approve.isEnabled(), 'the button beside the third text enables nothing')
    await reviewed.click()
    await isFocused(page, '#approve-button')
    t.ok(await approve.isEnabled())
    t.equal(await notice.count(), 0)
    t.notOk(await other.locator('#approve-button').isEnabled(), 'nobody has read it there')

    change('fourth', 'third')
    await shows('the third hello')
    await isEnabled(false)
    await page.keyboard.press('a')
    await isFocused(page, '#plan-reviewed')
    change('third', 'fourth')
    await shows('the fourth hello')
    await isEnabled(true, 'what was read is back')
    t.equal(await notice.count(), 0)

    const goOn = await holdBack(page, '**/session/1')
    change('fourth', 'fifth')
    await eventually(async () => (await session()).plan.includes('the fifth'))
    const answer = page.waitForResponse(/\/approve$/)
    await approve.click()
    t.equal((await answer).status(), 409, 'a click that lost the race')
    goOn()
    await shows('the fifth hello')
    await isEnabled(false)
    t.equal((await session()).state, 'plan_ready', 'nothing has run')
    await reviewed.click()
  })

  await t.test('what was said goes once it does not hold any more', inLongLane, async (t) => {
    await page.route('**/approve', (route) => route.abort())
    await approve.click()
    await page.locator('#approve-form .form-error.unreachable').waitFor()
    await page.unroute('**/approve')
    await rename('It says nothing')
    await page.getByText("Casefile didn't answer, but it does now").waitFor()
    const running = await must(service, 'POST', `/cases/${idOf(1)}/sessions`, { type: 'planning' })
    await eventually(async () => {
      const path = `/cases/${idOf(1)}/sessions/${running.id}`
      return (await service.request('POST', `${path}/abandon`, {})).status < 300
    })
    await page.route('**/approve', (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          code: 'folder_busy',
          detail: 'Another session works there.',
          running: { case_id: idOf(1), session_id: running.id },
        }),
      }),
    )
    await approve.click()
    const link = page.getByRole('link', { name: 'Show that session' })
    t.equal(await link.getAttribute('href'), `/case/${idOf(1)}/session/${running.id}`)
    await page.locator('.form-error').waitFor({ state: 'detached' })
    await page.unroute('**/approve')
  })

  await t.test('Enter that is pressed twice approves once; both tabs follow', async (t) => {
    let sent = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/approve')) sent++
    })
    const goOn = await holdBack(page, '**/session/1')
    await page.keyboard.press('a')
    await isFocused(page, '#approve-button')
    t.equal((await session()).state, 'plan_ready', 'the key alone approves nothing')
    const answer = page.waitForResponse(/\/approve$/)
    await page.keyboard.press('Enter')
    await (await answer).finished()
    await isEnabled(false)
    await page.keyboard.press('Enter')
    goOn()
    for (const tab of [page, other]) {
      await tab.locator('#terminal').getByText('begun').waitFor()
      t.equal(await tab.locator('#approve-button').count(), 0)
      t.equal(await tab.locator('.step-actions').count(), 0, 'the plan is over')
    }
    t.equal(sent, 1)
    t.ok(await isSame(), 'the same document')
    await other.close()
  })

  await t.test('what runs is followed, searched, and stopped only after a question', async (t) => {
    await page.getByText('Running step 2 of 3: wait').waitFor()
    await eventually(
      () => page.title(),
      (title) => title.startsWith('▶ 2/3 · '),
    )
    t.match(await page.locator('link[rel=icon]').getAttribute('href'), /favicon-running/)
    const hello = page.locator('#pane-1-hello')
    t.equal(await hello.locator('.lines').textContent(), 'hello from the step\noh yes\n')
    t.equal(await hello.locator('.fg-2').textContent(), 'hello')
    t.equal(await hello.locator('.line.error').textContent(), 'oh yes\n')
    await page.keyboard.press('x')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Everything it runs is ended').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.equal((await session()).state, 'executing')

    const found = (text: string) => page.locator(`#output-found:text-is("${text}")`).waitFor()
    writeFileSync(join(service.root, 'go'), '')
    await page.locator('#session-head .badge[data-state=complete]').waitFor()
    t.equal(await hello.locator('details').getAttribute('open'), null, 'what succeeded is folded')
    await page.keyboard.press('E')
    await found('Error 1 of 2')
    t.equal(await page.locator('.line.marked').textContent(), 'oh yes\n')
    await page.keyboard.press('E')
    await found('Error 2 of 2')
  })

  await t.test('changed files are read, marked and commented on', async (t) => {
    const line = page.locator('#changes [data-file="made-1.js"] td.code[data-line="1"]')
    await line.hover()
    await page.getByRole('button', { name: 'Comment on made-1.js line 1' }).click()
    await page.locator('.comment-composer textarea').fill('Why one?')
    await page.keyboard.press('Control+Enter')
    await page.locator('#diff-comments .comment-text').getByText('Why one?').waitFor()
    await page.locator('#changes tr.comments').getByText('Why one?').waitFor()
    const written = (await must(service, 'GET', api)).comments.list
    t.match(written, [
      { on: 'diff', file: 'made-1.js', side: 'new', line: 1, quote: 'const a = 1' },
    ])
    await page.getByText('Plan again with 1 comment').waitFor()

    await page.getByRole('link', { name: 'Split' }).click()
    await page.locator('table.split').first().waitFor()
    await page.goto(address)
    await page.locator('table.split').first().waitFor()
    await page.getByRole('button', { name: /^Attach 1-test\.tap as / }).click()
    await page.waitForURL(/\/proof\//)
    await page.getByRole('button', { name: 'Verify test-log' }).waitFor()
  })

  await t.test('a range of lines of a log has an address', async (t) => {
    await page.goto(`${address}/log/1-hello.log`)
    const click = (line: number, modifiers: 'Shift'[] = []) =>
      page.locator(`#L${line}`).click({ position: { x: 20, y: 8 }, modifiers })
    await click(2)
    t.match(page.url(), /#L2$/)
    await click(1, ['Shift'])
    t.match(page.url(), /#L1-L2$/)
    const marked = page.locator('#log-lines .line.marked')
    t.equal(await marked.count(), 2)
    await page.keyboard.press('E')
    t.match(page.url(), /#L2$/)
    t.equal(await marked.textContent(), 'oh yes\n')
    await page.click('#wrap')
    await page.locator('html.no-wrap').waitFor()
  })

  await t.test('proof is read, verified, and the case resolved', async (t) => {
    await page.goto(`${service.url}/case/${id}`)
    await isLive(page)
    await page.fill('#comment-text', 'Looks <b>good</b>.')
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    await page.locator('#history').getByText('Looks <b>good</b>.').waitFor()
    const proofs = () => must(service, 'GET', `/cases/${id}/proof`)
    const verify = (type: string) => page.getByRole('button', { name: `Verify ${type}` })
    await bringFile(page, 'drop', pngOf(300, 200))
    await page.locator('#chosen-file canvas').waitFor()
    t.equal(await page.inputValue('#proof-type'), 'screenshot')
    await rename('It says hello')
    t.equal(await page.locator('#chosen-file canvas').count(), 1, 'a refresh leaves it')
    await page.getByRole('button', { name: 'Attach', exact: true }).click()
    await page.locator('#proof .thumbnail img').waitFor()
    await isFocused(page, '[id^=proof-] a')
    const ofType = async (wanted: string) =>
      (await proofs()).find(({ type }: { type: string }) => type === wanted)
    const read = (type: string) => page.locator('#proof').getByRole('link', { name: type }).first()
    await read('screenshot').click()
    await verify('screenshot').click()
    await eventually(async () => (await proofs()).filter(isVerified).length === 1)

    const report = await ofType('test-log')
    await page.goto(`${service.url}/case/${id}/proof/${report.id}`)
    await isLive(page)
    const proofFile = service.file(id, 'proof', `${report.id}.md`)
    const change = (from: string, to: string) =>
      writeFileSync(proofFile, readFileSync(proofFile, 'utf8').replace(from, to))
    change('1 - works', '1 - does nothing')
    await page.locator('#proof-content', { hasText: 'does nothing' }).waitFor({ state: 'attached' })
    await verify('test-log').click()
    await page.getByRole('dialog').getByText('changed while the page was open').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.equal((await proofs()).filter(isVerified).length, 1)
    change('1 - does nothing', '1 - works')
    await page.locator('#proof-content', { hasText: 'works' }).waitFor({ state: 'attached' })
    await verify('test-log').press('Enter')
    await page.getByRole('link', { name: 'Resolve' }).click()
    await page.locator('#resolve').waitFor()

    await page.locator('#resolve').getByLabel('Fixed').check()
    await page.click('#resolve button')
    await page.locator('#state .badge[data-state=RESOLVED]').waitFor()
    await isFocused(page, '#record-head h1')
  })
})

const idIn = (url: string) => /[0-9a-f-]{36}/.exec(new URL(url).pathname)![0]
const isVerified = ({ verified }: { verified: boolean }) => verified
