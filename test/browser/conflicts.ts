import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, planned, step } from '../fixtures/session-client.ts'

const SAY = step('echo the first text runs', 'sh run id=say')

inBrowser('two who edit one plan: the second chooses, and nothing is lost', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: SAY })
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  await page.getByRole('button', { name: 'Edit the plan' }).click()
  const plan = page.getByLabel('Plan', { exact: true })
  const mine = SAY.replace('first', 'second')
  await plan.fill(mine)
  const theirs = SAY.replace('first', 'third')
  const hypothesis = 'It says the third.'
  await must(service, 'PUT', `${ref.path}/plan`, { plan: theirs, hypothesis })

  const panel = page.locator('#edit-form .conflict')
  await panel.getByText('The plan changed while you were editing.').waitFor()
  t.equal(await plan.inputValue(), mine)
  t.equal(
    await page.getByLabel('Hypothesis', { exact: true }).inputValue(),
    hypothesis,
    'what was not touched follows',
  )
  await panel.getByRole('button', { name: 'Use theirs' }).click()
  t.equal(await plan.inputValue(), theirs)
  await panel.getByRole('button', { name: 'Restore mine' }).click()
  t.equal(await plan.inputValue(), mine)
  await page.getByRole('button', { name: 'Save the plan' }).click()
  await page.locator('#plan-text').getByText('echo the second text runs').waitFor()
  t.match(await must(service, 'GET', ref.path), { hypothesis, state: 'plan_ready' })
})

inBrowser('an answer is not sent to another question', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Asked twice' })
  const ask = (reason: string) =>
    must(service, 'PUT', `/cases/${id}/state`, { state: 'NEEDS_USER_INPUT', reason })
  await ask('May I rename the file?')
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  await page.locator('#answer-text').fill('yes')
  await must(service, 'POST', `/cases/${id}/answer`, { text: 'no' })
  await ask('May I delete the data?')
  const panel = page.locator('#answer-form .conflict')
  await panel.getByText('The question changed while you were editing.').waitFor()
  await panel.getByText('May I delete the data?').waitFor()
  t.equal(await page.locator('#answer-text').inputValue(), 'yes')
  t.match(await must(service, 'GET', `/cases/${id}`), { state: 'NEEDS_USER_INPUT' })
  await panel.getByRole('button', { name: 'Keep editing' }).click()
  await page.locator('#answer-text').fill('no, never')
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.locator('#history').getByText('no, never').waitFor()
})

inBrowser('a state that a colleague set is not overwritten unseen', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Closed by another' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  await page.locator('#set-state > summary').click()
  await page.locator('#new-state').selectOption('BLOCKED')
  const reason = 'closed by a colleague'
  await must(service, 'PUT', `/cases/${id}/state`, { state: 'WONT_FIX', reason })
  const panel = page.locator('#set-state-form .conflict')
  await panel.getByText('The state changed while you were editing.').waitFor()
  t.match(await must(service, 'GET', `/cases/${id}`), { state: 'WONT_FIX', reason })
  await panel.getByRole('button', { name: 'Use theirs' }).click()
  t.equal(await page.locator('#new-state').inputValue(), 'WONT_FIX')
})

inBrowser('a form without a text area asks too before it is left', async (t, visitor) => {
  visitor.expect(/dialog: beforeunload/)
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Left' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  const asked: string[] = []
  page.on('dialog', (dialog) => asked.push(dialog.type()))
  await page.locator('#edit-case > summary').click()
  await page.locator('#edit-title').fill('Not saved')
  await page.goto(service.url)
  t.strictSame(asked, ['beforeunload'])
})

inBrowser('Stop ends what runs, after one question', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: step('sleep 600', 'sh run id=wait') })
  await must(service, 'POST', `${ref.path}/approve`)
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  await page.locator('#status').getByText('Running step 1 of 1: wait').waitFor()
  await page.keyboard.press('x')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Everything it runs is ended').waitFor()
  t.not((await must(service, 'GET', ref.path)).state, 'abandoned')
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await page.locator('#status').getByText('Stopped.').waitFor()
  t.equal((await must(service, 'GET', ref.path)).state, 'abandoned')
})

inBrowser('no two buttons or links for different things have one name', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Names' })
  for (const type of ['log', 'note'])
    await must(service, 'POST', `/cases/${id}/proof`, { type, content: 'seen' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  const names = await eventually(() =>
    page
      .locator('main :is(button, summary.button):visible')
      .evaluateAll((all) => all.map(({ textContent }) => textContent!.trim())),
  )
  t.strictSame(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
  t.ok(names.includes('Verify log') && names.includes('Edit the description'), String(names))
})
