import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { foundAgents } from '../fixtures/found-agents.ts'
import { must } from '../fixtures/session-client.ts'

/** A project of somebody who has never used Casefile. */
async function project(t: Test): Promise<BuiltService> {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-first-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [root, stateDir] = [join(folder, 'project'), join(folder, 'state')]
  for (const each of [root, stateDir]) mkdirSync(each)
  execFileSync('git', ['init', '-q'], { cwd: root })
  writeFileSync(join(root, 'package.json'), '{"scripts":{"test":"echo fine"}}')
  return startBuilt(t, {
    root,
    stateDir,
    env: foundAgents(folder),
  })
}

async function fits(t: Test, page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.strictSame(await axeViolations(page), [], `${name}, ${colorScheme}`)
  }
  await page.setViewportSize({ width: 390, height: 740 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  t.notOk(wide, `${name}, on a phone`)
  await page.setViewportSize({ width: 1280, height: 800 })
}

inBrowser('the first hour: from an empty folder to a plan, by keys alone', async (t, visitor) => {
  const service = await project(t)
  const page = await visitor.open(service.url, { bypassCSP: true })
  const agents = page.locator('#setup-answers[data-agents=known]')

  await t.test('the setup offers what is on this machine', async (t) => {
    await agents.waitFor()
    t.ok(await page.getByRole('radio', { name: /^Claude Code/ }).isChecked())
    t.ok(await page.getByRole('radio', { name: /^Gemini CLI/ }).isDisabled())
    t.match(await page.locator('#setup-answers').innerText(), 'casefile agent install')
    await fits(t, page, 'the setup')
  })

  await t.test('it keeps what was typed and chosen when the agents are asked again', async (t) => {
    await page.fill('#setup-tests', 'npm test -- --fast')
    await page.getByRole('radio', { name: /^Claude Code/ }).focus()
    for (const _ of [1, 2]) await page.keyboard.press('ArrowDown')
    t.ok(await page.getByRole('radio', { name: /^No agent/ }).isChecked())
    await page.getByRole('button', { name: 'Check again' }).press('Enter')
    await page.locator('#setup-answers:not([aria-busy])').waitFor()
    t.ok(await page.getByRole('radio', { name: /^No agent/ }).isChecked())
    t.equal(await page.inputValue('#setup-tests'), 'npm test -- --fast')
  })

  await t.test('a choice above the proposed one stays, too', async (t) => {
    const own = page.getByRole('radio', { name: /^No agent/ })
    await page.getByRole('radio', { name: /^Codex/ }).check()
    // asking again replaces the list
    await page.evaluate(() => document.querySelector('#setup-answers')!.append('old'))
    await page.getByRole('button', { name: 'Check again' }).press('Enter')
    await page.locator('#setup-answers:not([aria-busy])').waitFor()
    t.notMatch(await page.locator('#setup-answers').innerText(), /old$/)
    t.ok(await page.getByRole('radio', { name: /^Codex/ }).isChecked())
    await own.check()
  })

  await t.test('it does not overwrite a casefile.md that an editor made meanwhile', async (t) => {
    const file = join(service.root, 'casefile.md')
    const mine = '---\nprovider: codex # mine\n---\n'
    writeFileSync(file, mine)
    visitor.expect(/status of 412/)
    t.equal(await page.inputValue('#first-title'), '')
    await page.getByRole('button', { name: 'Save, create and plan' }).press('Enter')
    const error = page.locator('#setup-form .form-error')
    t.match(await error.innerText(), /casefile\.md is not what you read/)
    t.equal(readFileSync(file, 'utf8'), mine)
    t.ok(await page.getByRole('radio', { name: /^No agent/ }).isChecked(), 'the own answer stays')
    t.equal(await page.inputValue('#setup-tests'), 'npm test -- --fast')
  })

  await t.test('Enter saves it, and opens the first case', async (t) => {
    await page.fill('#first-title', 'Sign-in fails')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/case\/[0-9a-f-]{36}$/)
    const settings = readFileSync(join(service.root, 'casefile.md'), 'utf8')
    t.match(settings, /provider: runbook/)
    t.match(settings, /npm test -- --fast/)
    const [, id] = /case\/(.*)/.exec(page.url())!
    const { items } = await must(service, 'GET', `/cases/${id}/gate`)
    t.match(items, [{ description: 'All tests pass', type: 'test-log', required: true }])
  })

  await t.test('a case without anything to plan with has three ways on', async (t) => {
    await isLive(page)
    const ways = page.locator('#status .actions')
    t.equal(
      (await ways.innerText()).replace(/\s+/g, ' '),
      'Set up an agent Write a runbook Just run npm test -- --fast',
    )
    t.equal(await page.locator('main .primary:visible').count(), 1, 'one of them stands out')
    await fits(t, page, 'the case')
    await page.keyboard.press('s')
    const form = page.locator('#new-session-form')
    await form.locator('select[data-agents=known]').waitFor()
    t.ok(await form.locator('#nothing-to-plan').isVisible())
    t.notOk(await form.getByRole('button', { name: 'Start planning' }).isVisible())
    await form.locator('#session-provider').selectOption('claude')
    t.notOk(await form.locator('#nothing-to-plan').isVisible())
    t.ok(await form.getByRole('button', { name: 'Start planning' }).isVisible())
    await form.locator('#session-provider').selectOption('runbook')
    await page.focus('#session-note')
    await page.keyboard.press('Control+Enter')
    t.match(page.url(), /\/case\/[0-9a-f-]{36}$/, 'no key starts a session without a plan')
    await form.getByRole('button', { name: 'Cancel' }).click()
  })

  await t.test('an intent is one field, and the rest is proposed', async (t) => {
    await page.keyboard.press('i')
    const form = page.locator('#new-intent-form')
    const proof = form.locator('[name=proof]')
    await eventually(
      () => proof.inputValue(),
      (text) => text === 'npm test -- --fast',
    )
    await page.keyboard.type('Fix the sign-in.')
    t.equal(await form.locator('[name=intent]').inputValue(), 'Fix the sign-in.')
    await fits(t, page, 'the form of an intent')
    await form.locator('[name=paths]').fill('src/**, README.md')
    t.match(
      await form.locator('summary').innerText(),
      'May write to: src/**, README.md · may run: nothing · proved by: npm test -- --fast',
    )
    await page.keyboard.press('Control+Enter')
    t.match(page.url(), /\/case\/[0-9a-f-]{36}$/, 'no agent is chosen yet')
    t.notOk(await form.locator('option[value=runbook]').count(), 'a runbook carries out none')
    await form.getByRole('button', { name: 'Cancel' }).click()
  })

  await t.test('one of them writes a runbook from a template', async (t) => {
    await page.locator('#status').getByRole('link', { name: 'Write a runbook' }).press('Enter')
    await page.waitForURL('**/memory/runbook.md')
    const text = await page.locator('#memory-source').inputValue()
    t.match(text, /^## Hypothesis[\s\S]*run id=tests proof=test\nnpm test -- --fast\n/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    t.equal(await page.locator('#memory-source').count(), 0, 'a template alone is not lost')
    await page.goBack()
  })

  await t.test('another runs the tests as a plan of one step, once it is approved', async (t) => {
    await page
      .locator('#status')
      .getByRole('button', { name: /^Just run/ })
      .press('Enter')
    await page.waitForURL('**/session/1')
    t.match(await page.locator('#plan').innerText(), 'npm test -- --fast')
    await isLive(page)
    await page.click('#approve-button')
    await eventually(
      () => page.locator('main').innerText(),
      (text) => text.includes('fine'),
    )
  })

  await t.test('a second case can get an agent', async (t) => {
    const { id } = await must(service, 'POST', '/cases', { title: 'Rounding' })
    // the first item has been required, so that leaving it out would need trust
    const required = ['All tests pass (test-log, required)', 'A picture (image)']
    await must(service, 'PUT', '/setup', { checklist: required })
    await page.goto(`${service.url}/case/${id}`)
    await page.locator('#status').getByRole('link', { name: 'Set up an agent' }).click()
    await agents.waitFor()
    await fits(t, page, 'the setup of a workspace with cases')
    await page.getByRole('radio', { name: /^Claude Code/ }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`${service.url}/`)
    const settings = readFileSync(join(service.root, 'casefile.md'), 'utf8')
    const kept = 'checklist: ["All tests pass (test-log, required)", A picture (image)]'
    t.match(settings, kept, 'a checklist that nobody changed stays')
    await page.goto(`${service.url}/case/${id}`)
    t.match(await page.locator('#status').innerText(), 'Claude Code reads the case and the code')
    await page.getByRole('button', { name: 'Choose how to plan' }).click()
    t.ok(await page.getByRole('button', { name: 'Start planning' }).last().isVisible())
    t.equal(await page.inputValue('#session-provider'), 'claude')
  })

  await t.test('"Create and plan" makes no empty plan', async (t) => {
    await page.goto(`${service.url}/new`)
    t.match(
      (await page.locator('#requirements').innerText()).replace(/\s+/g, ' '),
      'To resolve it ○ All tests pass test-log, required ○ A picture image, required',
      'the checklist of casefile.md',
    )
    await page.fill('#new-title', 'Nothing to plan with')
    await page.getByText('More:').click()
    await page.selectOption('#new-provider', 'runbook')
    await fits(t, page, 'the form of a new case')
    await page.click('#create-and-plan')
    await page.waitForURL(/\/case\/[0-9a-f-]{36}$/)
    t.equal(await page.locator('#history [data-kind=session]').count(), 0)
  })

  await t.test(
    'a runbook is written and planned with two clicks, as its page marks it',
    async (t) => {
      const address = page.url()
      await page.getByRole('link', { name: 'Write a runbook' }).click()
      const text = page.locator('#memory-source')
      const steps = '## Steps\n\n```sh run id=fast\ntrue\n```\n'
      await text.fill(`${steps}\n## Hypothesis\n\n\`\`\`sh run id=never\nfalse\n\`\`\`\n`)
      await page.getByRole('button', { name: 'Save and plan' }).click()
      await page.waitForURL('**/session/1')
      await page.locator('#plan-text .step-id').waitFor()
      t.strictSame(await page.locator('#plan-text .step-id').allInnerTexts(), ['fast'])

      await page.goto(`${address}/memory/runbook.md`)
      t.strictSame(
        await page.locator('#memory-text .step-id').allInnerTexts(),
        ['fast'],
        'a block of the hypothesis does not run',
      )
      await fits(t, page, 'the page of a runbook')
      await page.keyboard.press('e')
      await text.fill(steps.replace('id=fast', 'id=fast x=1'))
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.locator('#runbook-errors').getByText('Line 3: unknown key "x"').waitFor()
      t.notOk(await page.getByRole('button', { name: 'Plan this case' }).isVisible())
    },
  )
})
