import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { gateOf } from '../model/case-contents.ts'
import { failedTestPlace } from '../model/failed-test.ts'
import { doubtText } from '../model/history.ts'
import { readPatch } from '../rendering/diff/patch.ts'
import { directionOf } from '../rendering/direction.ts'
import { visibleProse, visibleText } from '../rendering/hidden-characters.ts'
import { renderMarkdown } from '../rendering/markdown/markdown.ts'
import type { CaseReport, ProofReport, SessionReport } from './contents.ts'
import { PatchView } from './patch-view.tsx'
import {
  caseFacts,
  changedFiles,
  changeText,
  checklistText,
  type Fact,
  leftOutText,
  plain,
  proofFacts,
  proofTitle,
  sessionFacts,
  sessionTitle,
  stepText,
  timeText,
} from './report-texts.ts'
import { STYLE } from './style.ts'

/** A report as one HTML file: its styles and pictures are in it, it has no script, and it loads nothing. */
export async function caseHtml(report: CaseReport): Promise<string> {
  return `<!doctype html>${await (<Report report={report} />).toString()}`
}

function Report({ report }: { report: CaseReport }) {
  const { contents, history, sessions, proofs, leftOut } = report
  const { title, description } = contents.case
  const { items } = gateOf(contents)
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{plain(title)}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        <main>
          <h1 dir={directionOf(title)}>{visibleProse(title)}</h1>
          <Facts facts={caseFacts(report)} />
          {description.trim() !== '' && (
            <Section title="Description">
              <Markdown text={description} id="description" under={2} />
            </Section>
          )}
          {items.length > 0 && (
            <Section title="Checklist">
              <ul class="checklist">
                {items.map((item) => (
                  <li class={item.satisfied_by ? 'good' : 'open'}>{plain(checklistText(item))}</li>
                ))}
              </ul>
            </Section>
          )}
          <Section title="History">
            {leftOut.history > 0 && <p>{leftOutText(leftOut.history, 'line')}</p>}
            <ol class="history">
              {history.map((entry) => (
                <li>
                  {entry.at !== null && <time>{timeText(entry.at)}</time>}
                  {entry.who !== null && <strong>{plain(entry.who)}</strong>} {doubtText(entry)}{' '}
                  {plain(entry.what)}
                  {entry.text !== null && <p class="said">{visibleProse(entry.text)}</p>}
                </li>
              ))}
            </ol>
          </Section>
          {leftOut.sessions > 0 && <p>{leftOutText(leftOut.sessions, 'session')}</p>}
          {sessions.map((each) => (
            <SessionPart report={each} />
          ))}
          {proofs.length > 0 && (
            <Section title="Proof">
              {leftOut.proofs > 0 && <p>{leftOutText(leftOut.proofs, 'proof')}</p>}
              {proofs.map((each) => (
                <ProofPart report={each} />
              ))}
            </Section>
          )}
        </main>
      </body>
    </html>
  )
}

function SessionPart({ report }: { report: SessionReport }) {
  const { session, hypothesis, plan, steps, output, patch } = report
  const { number, failed_tests: failed } = session
  const changed = changedFiles(session)
  return (
    <Section title={sessionTitle(report)}>
      <Facts facts={sessionFacts(report)} />
      {hypothesis.trim() !== '' && (
        <>
          <h3>Hypothesis</h3>
          <Markdown text={hypothesis} id={`hypothesis-${number}`} under={3} />
        </>
      )}
      {plan.trim() !== '' && (
        <>
          <h3>Plan</h3>
          <Markdown text={plan} id={`plan-${number}`} under={3} />
        </>
      )}
      {steps.length > 0 && (
        <>
          <h3>Steps</h3>
          <ul>
            {steps.map((step) => (
              <li>{plain(stepText(step))}</li>
            ))}
          </ul>
        </>
      )}
      {failed.length > 0 && (
        <>
          <h3>Failed tests</h3>
          <ul>
            {failed.map((test) => (
              <li>
                <strong>{plain(test.name)}</strong> {plain(failedTestPlace(test) ?? '')}
                {test.message !== null && <p class="said">{visibleText(test.message)}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
      {patch && patch.files.length > 0 && (
        <>
          <h3>Changed files</h3>
          <PatchView {...patch} />
        </>
      )}
      {!patch && changed.length > 0 && (
        <>
          <h3>Changed files</h3>
          <ul>
            {changed.map((each) => (
              <li>{plain(changeText(each))}</li>
            ))}
          </ul>
        </>
      )}
      {output.trim() !== '' && (
        <details>
          <summary>Output</summary>
          <pre>{visibleText(output)}</pre>
        </details>
      )}
    </Section>
  )
}

function ProofPart({ report }: { report: ProofReport }) {
  const { proof, content, picture } = report
  const { image } = proof
  return (
    <article>
      <h3>{plain(proofTitle(report))}</h3>
      <Facts facts={proofFacts(report)} />
      {image && picture && (
        <img
          src={`data:${image.type};base64,${Buffer.from(picture).toString('base64')}`}
          alt={plain(proof.type)}
          width={image.width}
          height={image.height}
        />
      )}
      {image && !picture && <p>{plain(content)}. It is missing, or too large for this report.</p>}
      {!image && <Content text={content} />}
    </article>
  )
}

const MAX_OPEN_LINES = 40

/** A diff as one; a long text folded. */
function Content({ text }: { text: string }) {
  if (/^diff --git /.test(text)) {
    return <PatchView {...readPatch(text)} />
  }
  const lines = text.split('\n').length
  if (lines <= MAX_OPEN_LINES) return <pre>{visibleText(text)}</pre>
  return (
    <details>
      <summary>{lines} lines</summary>
      <pre>{visibleText(text)}</pre>
    </details>
  )
}

function Section({ title, children }: { title: string; children: Child }) {
  return (
    <section>
      <h2>{plain(title)}</h2>
      {children}
    </section>
  )
}

function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd dir={directionOf(value)}>{plain(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

async function Markdown({ text, id, under }: { text: string; id: string; under: number }) {
  const html = await renderMarkdown(text, { headingShift: under, idPrefix: `${id}-` })
  return html === null ? <pre>{visibleText(text)}</pre> : <div class="markdown">{raw(html)}</div>
}
