import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  bringFile,
  eventually,
  holdBack,
  inBrowser,
  isFocused,
  isLive,
} from '../fixtures/browser.ts'
import { pngOf } from '../fixtures/pictures.ts'
import { git, must, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const HELLO = step(
  [
    `printf '\\033[32mhello\\033[0m from the step\\n'`,
    'echo oh no >&2',
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

/** One more than a page of the list has. */
const MANY = 101
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const CASES = Object.fromEntries(
  Array.from({ length: MANY }, (_, at) => [
    idOf(at + 1),
    {
      'case.md': `---\nid: ${idOf(at + 1)}\ntitle: Case number ${at + 1}\ncreated_at: 2026-01-05T08:00:00.000Z\nstate: OPEN\ntype: ${at === 0 ? 'chore' : 'bug'}\n---\n\nOne of many.\n`,
    },
  ]),
)

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

  await t.test('the list is walked, filtered and searched without loading it again', async (t) => {
    await mark()
    const rows = page.locator('[data-row]')
    const first = await rows.first().textContent()
    await page.keyboard.press('j')
    t.equal(await focused(), first)
    await page.keyboard.press(']')
    await page.getByText('page 2 of 2').waitFor()
    t.match(page.url(), /\/\?page=2$/)
    t.equal(await rows.count(), MANY - 100)
    await eventually(focused, (text) => text === 'Case number 101' || text !== first)
    t.equal(await focused(), await rows.first().textContent(), 'the first row has the focus')
    await page.keyboard.press('[')
    await page.getByText('page 1 of 2').waitFor()
    await eventually(focused, (text) => text === first)
    await page.keyboard.press('j')
    t.equal(await focused(), await rows.nth(1).textContent())
    await page.keyboard.press('k')
    t.equal(await focused(), first)

    await page.selectOption('#filter-type', 'chore')
    await page.getByText(`1 of ${MANY} cases`).waitFor()
    t.match(page.url(), /\/\?type=chore$/)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByText('page 1 of 2').waitFor()

    const length = await page.evaluate(() => history.length)
    await page.keyboard.press('/')
    await page.keyboard.type('number')
    await page.waitForURL('**/?q=number')
    await page.keyboard.type(' 77')
    await page.waitForURL('**/?q=number%2077')
    await eventually(
      () => rows.allInnerTexts(),
      (titles) => titles.length === 1 && titles[0] === 'Case number 77',
    )
    t.equal(await page.evaluate(() => history.length), length + 1, 'Back leads to before it')
    await page.keyboard.press('Enter')
    await isFocused(page, '[data-row]')
    t.ok(await isSame(), 'the same document')

    await page.keyboard.press('Enter')
    await page.waitForURL(`**/case/${idOf(77)}`)
    await isLive(page)
    await page.keyboard.press('g')
    await page.waitForURL('**/?q=number%2077')
    await isFocused(page, '[data-row]')
    await isLive(page)
    await page.keyboard.press('/')
    await page.keyboard.press('Escape')
    await page.getByText('page 1 of 2').waitFor()
    t.equal(new URL(page.url()).search, '')
    t.equal(await page.inputValue('#filter-q'), '')
    await page.goBack()
    await page.getByText(`1 of ${MANY} cases`).waitFor()
    t.equal(await page.inputValue('#filter-q'), 'number 77')
    await page.keyboard.press('Escape')
    await page.getByText('page 1 of 2').waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('a case says what would prove it, and is planned at once', async (t) => {
    await page.keyboard.press('n')
    await page.waitForURL('**/new')
    await isFocused(page, '#new-title')
    await page.keyboard.type('It does not say hello')
    await page.fill('#new-description', RUNBOOK)
    await page.fill('#new-type', 'investigation')
    t.equal(await page.inputValue('#plan-type'), 'investigating')
    await page.selectOption('#plan-type', 'implementing')
    await page.fill('#new-type', 'chore')
    await page.fill('#new-type', 'investigation')
    t.equal(await page.inputValue('#plan-type'), 'implementing', 'what was chosen stays')
    await page.fill('#new-type', 'bug')
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
  const other = await visitor.beside(page, address)
  await isLive(other)
  await page.bringToFront()

  await t.test('a plan is commented on, by pointer, key and number', async (t) => {
    await page.locator('#step-hello').evaluate((step) => step.scrollIntoView({ block: 'start' }))
    await page.locator('#step-rows .is-read').first().waitFor()
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

    await page.locator('#step-wait').focus()
    await page.keyboard.press('c')
    await isFocused(page, '.comment-composer textarea')
    await page.keyboard.press('Escape')
    await isFocused(page, '#step-wait')
    await page.locator('#main').focus()
    await page.keyboard.press('c')
    await isFocused(page, '#comment-text')
    await page.keyboard.type('All of it')
    await page.fill('#comment-lines', '1-3')
    await page.keyboard.press('Control+Enter')
    await page.locator('#plan-text .comment-text').getByText('All of it').waitFor()
    await page.getByText('Approve with 2 notes').waitFor()
    await other.getByText('Approve with 2 notes').waitFor()
    const drafts = await must(service, 'GET', `${api}/comments`)
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

  await t.test('Approve is enabled only for the text that was reviewed, in each tab', async (t) => {
    const reviewed = page.getByRole('button', { name: "I've reviewed the changes" })
    await other.locator('#plan-reviewed').click()
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

  await t.test('a step is edited in place, unless the plan changes meanwhile', async (t) => {
    const editor = page.locator('.step-edit textarea')
    await page.getByRole('button', { name: 'Edit step hello', exact: true }).click()
    t.equal(await editor.inputValue(), HELLO.trimEnd())
    const mine = HELLO.trimEnd().replace('oh no', 'oh yes')
    await editor.fill(mine)
    t.notOk(await approve.isEnabled())
    await must(service, 'PUT', `${api}/plan`, { plan: `New.\n\n${(await session()).plan}` })
    await shows('New.')
    await page.getByRole('button', { name: 'Save step' }).click()
    await page.getByText('The plan changed while you were editing this step').waitFor()
    t.equal(await editor.inputValue(), mine)
    await page.locator('.step-edit').getByRole('button', { name: 'Cancel' }).click()
    t.equal(await editor.count(), 0)
    const { plan } = await session()
    await page.getByRole('button', { name: 'Edit step hello', exact: true }).click()
    await editor.fill(`${mine}\n\n`)
    await page.getByRole('button', { name: 'Save step' }).click()
    await shows('oh yes')
    await isEnabled(true, 'who saves a step has read the plan')
    t.equal((await session()).plan, plan.replace('oh no', 'oh yes'))
  })

  await t.test('what was said goes once it does not hold any more', async (t) => {
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
    await page.keyboard.press('/')
    await page.keyboard.type('BEG')
    await found('1 match')
    await page.keyboard.press('Enter')
    await found('1 of 1')
    t.match(page.url(), /#L2-wait-1$/)
    t.equal(await page.locator('.line.marked').textContent(), 'begun\n')
    await page.fill('#output-search', 'gone')
    await found('No matches')
    writeFileSync(join(service.root, 'go'), '')
    await found('1 match')
    await page.locator('#session-head .badge[data-state=complete]').waitFor()
    t.equal(await hello.locator('details').getAttribute('open'), null, 'what succeeded is folded')
    await page.fill('#output-search', 'O')
    await found('8 matches')
    await page.keyboard.press('Shift+Enter')
    await found('8 of 8')
    await page.keyboard.press('Enter')
    await found('1 of 8')
    t.not(await hello.locator('details').getAttribute('open'), null, 'a match opens its step')
    await page.keyboard.press('Escape')
    await page.keyboard.press('E')
    await found('Error 1 of 2')
    t.equal(await page.locator('.line.marked').textContent(), 'oh yes\n')
    await page.keyboard.press('E')
    await found('Error 2 of 2')
    await page.click('#full-screen')
    await page.locator('html.output-full').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('html:not(.output-full)').waitFor()
  })

  await t.test('changed files are read, marked and commented on', async (t) => {
    const line = page.locator('#changes [data-file="made-1.js"] td.code[data-line="1"]')
    await line.hover()
    await page.getByRole('button', { name: 'Comment on made-1.js line 1' }).click()
    await page.locator('.comment-composer textarea').fill('Why one?')
    await page.keyboard.press('Control+Enter')
    await page.locator('#diff-comments .comment-text').getByText('Why one?').waitFor()
    await page.locator('#changes tr.comments').getByText('Why one?').waitFor()
    await page.locator('#changes [data-file="made-2.js"] td.line-number a').focus()
    await page.keyboard.press('c')
    await page.locator('.comment-composer textarea').fill('Why two?')
    await page.keyboard.press('Control+Enter')
    await page.locator('#diff-comments .comment-text').getByText('Why two?').waitFor()
    const written = await must(service, 'GET', `${api}/comments`)
    t.match(written, [
      { on: 'diff', file: 'made-1.js', side: 'new', line: 1, quote: 'const a = 1' },
      { on: 'diff', file: 'made-2.js', side: 'new', line: 1, quote: 'const b = 2' },
    ])
    await page.getByText('Plan again with 2 comments').waitFor()

    await page.locator('[data-file="made-2.js"] summary').focus()
    await page.keyboard.press('v')
    await page.getByText('1 of 2 files viewed').waitFor()
    await page.getByRole('link', { name: 'Split' }).click()
    await page.locator('table.split').first().waitFor()
    await page.goto(address)
    await page.locator('table.split').first().waitFor()
    await page.getByText('1 of 2 files viewed').waitFor()
    const isOpen = (name: string) => page.locator(`[data-file="${name}"] details[open]`).count()
    t.strictSame([await isOpen('made-1.js'), await isOpen('made-2.js')], [1, 0])
    await page.locator('[data-file="made-2.js"] [data-viewed]').click()
    await page.getByText('0 of 2 files viewed').waitFor()
    await page.getByRole('button', { name: 'Attach as test-log (1-test.tap)' }).click()
    await page.locator('#evidence').getByText('not verified').waitFor()
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
    await other.goto(`${service.url}/?q=says`)
    await page.goto(`${service.url}/case/${id}`)
    await isLive(page)
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
    await verify('screenshot').click()
    await eventually(async () => (await proofs()).filter(isVerified).length === 1)

    const report = (await proofs()).find(({ type }: { type: string }) => type === 'test-log')
    const proofFile = service.file(id, 'proof', `${report.id}.md`)
    const change = (from: string, to: string) =>
      writeFileSync(proofFile, readFileSync(proofFile, 'utf8').replace(from, to))
    change('1 - works', '1 - does nothing')
    await page.locator('#proof').getByText('1 - does nothing').waitFor()
    await verify('test-log').click()
    await page.getByRole('dialog').getByText('changed while the page was open').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.equal((await proofs()).filter(isVerified).length, 1)
    change('1 - does nothing', '1 - works')
    await page.locator('#proof').getByText('1 - works').waitFor()
    await verify('test-log').press('Enter')
    await page.locator('#resolve').waitFor()

    await other.locator(`#case-${id}`).getByText('Ready to resolve').waitFor()
    await page.locator('#resolve [name=outcome]').fill('ConfirmedCodeBug')
    await page.click('#resolve button')
    await page.locator('#state .badge[data-state=RESOLVED]').waitFor()
    await isFocused(page, '#state-title')
    await page.getByText('Resolved.', { exact: true }).waitFor()
    await other.locator(`#case-${id}`).getByText('Confirmed code bug').waitFor()
    await page.keyboard.press('u')
    await page.getByText('Undone.').waitFor()
    await page.locator('#resolve').waitFor()
    t.match(await must(service, 'GET', `/cases/${id}`), { state: 'VERIFYING' })
    await page.click('#resolve button')
    await page.getByText('Resolved.', { exact: true }).waitFor()
    await rename('It says hello again')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Not undone: it was changed after that.').waitFor()
    t.match(await must(service, 'GET', `/cases/${id}`), { state: 'RESOLVED', tags: [] })
  })
})

const idIn = (url: string) => /[0-9a-f-]{36}/.exec(new URL(url).pathname)![0]
const isVerified = ({ verified }: { verified: boolean }) => verified
