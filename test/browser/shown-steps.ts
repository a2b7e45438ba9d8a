import type { Page } from 'playwright-core'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import { visibleText } from '../../src/rendering/hidden-characters.ts'
import { inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, planned, ran } from '../fixtures/session-client.ts'

const fence = (script: string, id = 'check') => `\`\`\`sh run id=${id}\n${script}\n\`\`\`\n`
const CHECK = fence('touch ran')
const HONEST = fence('echo honest', 'honest')

/** Each line behind this. */
const behind = (mark: string, text: string) => text.replace(/^(?=.)/gm, mark)

/** A text as the innermost item of nested lists. */
function inLists(depth: number, mark: string, text: string): string {
  const marks = Array.from({ length: depth }, (_, level) => ' '.repeat(level * mark.length) + mark)
  return `${marks.join('x\n')}x\n\n${behind(' '.repeat(depth * mark.length), text)}`
}

const TRICKS: Record<string, string> = {
  nothing: CHECK,
  quotes: behind('> '.repeat(56), CHECK),
  'as many quotes as are rendered': behind('> '.repeat(99), CHECK),
  lists: inLists(32, '- ', CHECK),
  'numbered lists': inLists(20, '1. ', `${CHECK}\nand more\n`),
  'large numbers': inLists(10, '999999999. ', CHECK),
  tasks: inLists(24, '- [ ] ', CHECK).replaceAll('[ ] x', '[ ] y'),
  'an item that begins with it': `- ${behind('  ', CHECK).trim()}\n- ${behind('  ', fence('true', 'b')).trim()}`,
  'quotes in lists': inLists(16, '- ', behind('> '.repeat(30), CHECK)),
  'a footnote': `[^1]: nobody refers to it\n\n${behind('    ', CHECK)}`,
  'a footnote in quotes': behind('> '.repeat(30), `[^1]: note\n\n${behind('    ', CHECK)}`),
  details: `<details>\n\n${CHECK}\n</details>`,
  'a style': `<div style="display:none">\n\n${CHECK}\n</div>`,
  'a table before it': `|a|b|\n|-|-|\n|${'c'.repeat(3000)}|d|\n\n${CHECK}`,
  'a picture before it': `![](http://127.0.0.1:1/${'a'.repeat(1000)})\n\n${CHECK}`,
  blanks: fence(`echo ok ${' '.repeat(5000)}; touch ran`),
  tabs: fence(`echo ok ${'\t'.repeat(3000)}; touch ran`),
  'a long word': fence(`echo ${'a'.repeat(30_000)}; touch ran`),
  'blank lines': fence(`echo ok${'\n'.repeat(3000)}touch ran`),
  'more lines than have numbers': fence(`echo ok${'\n'.repeat(6000)}touch ran`),
  'much before it': `${'Lorem ipsum dolor sit amet. '.repeat(4000)}\n\n${CHECK}`,
  'many steps before it': `${Array.from({ length: 60 }, (_, n) => fence('true', `s${n}`)).join('\n')}\n${CHECK}`,
  'a wide character': fence('echo \ufdfd\ufdfd\u{12031}'.repeat(40)),
  'stacked marks': fence(`# e${'\u0301\u0316'.repeat(40)}\ntouch ran`),
  'marks without a letter': fence(`touch ran\n${'\u0336'.repeat(60)}`),
  'letters from right to left': fence('rm -rf \u05d0/1 \u05d1/2 3 \u0627 && touch (ran)'),
  directions: fence('echo \u202e\u2066a\u2069\u200f; touch ran #\u200e'),
  'invisible letters': fence('ec\u200bho\u3164 a\u{e0041}\ufe0f\u00a0\u2800'),
  'a colour for each word':
    '```js run id=check\n// const a = 1 /* `x` */ \nvar a = "\\u202e" + /x/ // b\n```\n',
  'too many quotes elsewhere': `${'> '.repeat(101)}x\n\n${behind('> ', CHECK)}`,
  'too complex': `${fence(`# ${'\u0301'.repeat(24_000)}\ntouch ran`)}\n${'['.repeat(50_000)}`,
  'lines beyond those with numbers': `${'> '.repeat(101)}x\n${'\n'.repeat(6000)}${CHECK}`,
}

const BARRED = ['lines beyond those with numbers']

interface Shown {
  id: string
  text: string
  /** Where the first and last line are, and what a click there would hit. */
  boxes: { left: number; right: number; isHit: boolean }[]
  width: number
  /** Of words, in reading order, those that stand before the word before them. */
  misplaced: string[]
}

function shownSteps(page: Page): Promise<Shown[]> {
  return page.evaluate(() => {
    const plan = document.getElementById('plan')!
    return [...document.querySelectorAll<HTMLElement>('#plan-text [data-step]')].map((step) => {
      const lines: HTMLElement[] = [...step.querySelectorAll<HTMLElement>('.code-line')]
      if (step.matches('.source-step')) {
        for (let next = step.nextElementSibling; next?.matches('.source-line.runs'); ) {
          lines.push(next as HTMLElement)
          next = next.nextElementSibling
        }
      } else if (lines.length === 0) lines.push(step.querySelector('code')!)
      const ends = [lines[0]!, lines.at(-1)!]
      return {
        id: step.dataset.step!,
        text: lines.map((line) => line.textContent).join(''),
        width: step.getBoundingClientRect().width / plan.clientWidth,
        boxes: ends.map((line, index) => {
          const range = document.createRange()
          range.selectNodeContents(line)
          const end = () => [...range.getClientRects()].filter((box) => box.width > 0).at(-index)!
          scrollBy({ top: end().top - 300, behavior: 'instant' })
          const { left, right } = range.getBoundingClientRect()
          const hit = document.elementFromPoint(end().left + 1, end().top + end().height / 2)
          return { left, right, isHit: line.contains(hit) }
        }),
        misplaced: lines.slice(0, 50).flatMap((line) => {
          const wrong: string[] = []
          let last = { left: 0, bottom: 0 }
          const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const text = node.textContent!.slice(0, 500)
            for (const { 0: word, index } of text.matchAll(/[^\s\p{M}]+/gu)) {
              const range = document.createRange()
              range.setStart(node, index)
              range.setEnd(node, index + word.length)
              const boxes = [...range.getClientRects()]
              const [first] = boxes
              if (first && first.top < last.bottom - 4 && first.left < last.left) wrong.push(word)
              last = boxes.at(-1) ?? last
            }
          }
          return wrong
        }),
      }
    })
  })
}

inBrowser('what runs is shown as a whole, or cannot be approved', async (t, visitor) => {
  const service = await serveSample(t)
  const page = await visitor.open(service.url)
  for (const [name, trick] of Object.entries(TRICKS)) {
    const ref = await planned(service, { runbook: `${HONEST}\n${trick}\n` })
    const { plan } = await must(service, 'GET', ref.path)
    const { steps, errors } = await readPlan(plan)
    for (const width of [1200, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${service.url}/case/${ref.case_id}/session/1`)
      await isLive(page)
      const where = `${name}, ${width} px`
      if (await page.locator('#approve-button').isDisabled()) {
        t.ok(BARRED.includes(name), where)
        t.match(await page.locator('.hidden-step').innerText(), "doesn't show 1 of the steps")
        continue
      }
      t.strictSame(errors, [], where)
      const shown = await shownSteps(page)
      t.strictSame(
        shown.map(({ id }) => id),
        steps.map(({ id }) => id),
        where,
      )
      for (const [index, { text, width: part, boxes, misplaced }] of shown.entries()) {
        const script = visibleText(steps[index]!.script)
        t.equal(text.includes(script), true, `${where}: the text`)
        t.ok(part > 0.75, `${where}: ${part}`)
        for (const { left, right, isHit } of boxes)
          t.ok(left >= 0 && right <= width && isHit, `${where}: ${left} ${right} ${isHit}`)
        t.strictSame(misplaced, [], `${where}: the order`)
      }
    }
  }
})

inBrowser('the name of a file is one line, also when it is pasted', async (t, visitor) => {
  const service = await serveSample(t)
  const { ref } = await ran(service, fence(`echo x > "$(printf 'a\\ntouch PASTED\\n#')"`))
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  t.equal(await page.locator('.file-name').innerText(), 'a␊touch PASTED␊#')
  t.equal(
    await page.locator('[data-copy]').getAttribute('data-copy'),
    "$'a\\012touch PASTED\\012#'",
  )
})
