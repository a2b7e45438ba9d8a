import { inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { committed } from '../fixtures/plain-agents.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'

inBrowser(
  'the changes of a run are commented on, and planned again with that',
  async (t, visitor) => {
    const service = await serveSample(t, committed)
    const runbook = step('for i in 1 2; do echo "const a = $i" > made-$i.js; done')
    const ref = await planned(service, { runbook })
    t.equal((await finished(service, ref)).session.state, 'complete')
    const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
    await isLive(page)
    const line = (file: string) =>
      page.locator(`#changes [data-file="${file}"] td.code[data-line="1"]`)
    const list = page.locator('#diff-comments')

    await line('made-1.js').hover()
    await page.getByRole('button', { name: 'Comment on made-1.js line 1' }).click()
    await page.locator('.comment-composer textarea').fill('Why one?')
    await page.keyboard.press('Control+Enter')
    await list.locator('.comment-text').getByText('Why one?').waitFor()
    await page.locator('#changes tr.comments').getByText('Why one?').waitFor()

    await page.locator('#changes [data-file="made-2.js"] td.line-number a').focus()
    await page.keyboard.press('c')
    await page.locator('.comment-composer textarea').fill('Why two?')
    await page.keyboard.press('Control+Enter')
    await list.locator('.comment-text').getByText('Why two?').waitFor()
    const comments = await must(service, 'GET', `${ref.path}/comments`)
    t.match(comments, [
      {
        on: 'diff',
        file: 'made-1.js',
        side: 'new',
        line: 1,
        quote: 'const a = 1',
        status: 'draft',
      },
      {
        on: 'diff',
        file: 'made-2.js',
        side: 'new',
        line: 1,
        quote: 'const a = 2',
        status: 'draft',
      },
    ])
    t.strictSame(await axeViolations(page), [])

    await page.getByRole('button', { name: 'Plan again with 2 comments' }).click()
    await page.waitForURL(/session\/2$/)
    const sent = await must(service, 'GET', `${ref.path}/comments`)
    t.match(
      sent.map(({ status }: { status: string }) => status),
      ['open', 'open'],
    )
  },
)
