import { sizeText } from '../../model/amounts.ts'
import { classesOf } from '../../rendering/ansi/look.ts'
import { visibleOutput } from '../../rendering/hidden-characters.ts'
import { rangesText } from '../../rendering/live-log/byte-ranges.ts'
import { apiPath } from './plan-forms.tsx'
import type { OutputLine, StepOutput } from './session-output.ts'
import type { SessionView } from './session-view.ts'

/**
 * What the steps print, as in a terminal. The script owns the inside of the pane once the page is
 * there: it adds what comes, and asks for the page without this text from then on.
 */
export function OutputSection({ view }: { view: SessionView }) {
  const { output, json } = view
  const hasLogs = output.some(({ artifact, isMissing }) => artifact !== null && !isMissing)
  if (!hasLogs && json.output !== '') return <RecordedOutput text={json.output} />
  if (output.length === 0) return null
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small">
          Lines marked <span class="error-sign">err</span> came from standard error
        </span>
      </header>
      <div class="terminal-frame">
        {/* biome-ignore lint/a11y/useSemanticElements: a region of the page that scrolls */}
        <div
          class="terminal"
          id="terminal"
          data-keep
          data-base={`${apiPath(view)}/artifacts/`}
          role="region"
          aria-label="Output of the steps"
          tabindex={0}
        >
          {output.map((part) => (
            <StepPane
              part={part}
              base={`${apiPath(view)}/artifacts/`}
              note={noteOn(part, view.query.withOutput)}
            />
          ))}
        </div>
        <button type="button" class="to-end" id="to-end" hidden data-keep>
          Jump to the end
        </button>
      </div>
    </section>
  )
}

function StepPane({ part, base, note }: { part: StepOutput; base: string; note: string }) {
  const { key, id, artifact, isFinished, isSilent, from, to, lines, stderr } = part
  return (
    <section
      class="pane"
      data-pane={key}
      data-artifact={artifact}
      data-from={from}
      data-to={to}
      data-stderr={rangesText(stderr)}
      data-finished={isFinished ? '' : undefined}
      data-mid-line={part.isMidLine ? '' : undefined}
      data-silent={isSilent ? '' : undefined}
    >
      <header>
        <h3>{id}</h3>
        {artifact !== null && !part.isMissing && (
          <a href={base + artifact} target="_blank" rel="noreferrer">
            whole log{isFinished ? `, ${sizeText(to)}` : ''}
          </a>
        )}
        {note !== '' && <span class="pane-note">{note}</span>}
      </header>
      <p class="left-out" hidden={from === 0 || lines.length === 0}>
        What it printed before is in the whole log.
      </p>
      <pre class="lines">
        {lines.map((line) => (
          <Line {...line} />
        ))}
      </pre>
    </section>
  )
}

function noteOn(part: StepOutput, withText: boolean): string {
  const { artifact, isMissing, isFinished, to, lines } = part
  if (isMissing) return 'its log is not on this machine'
  if (artifact === null) return 'printed nothing'
  return withText && isFinished && to > 0 && lines.length === 0 ? 'not shown here' : ''
}

function Line({ line, isError }: OutputLine) {
  const { runs, wrapped } = line
  return (
    <span class={isError ? 'line error' : 'line'}>
      {runs.map(({ text, style }) => {
        const classes = classesOf(style).join(' ')
        return classes === '' ? text : <span class={classes}>{text}</span>
      })}
      {wrapped ? '' : '\n'}
    </span>
  )
}

/** What the session's file keeps of it, where the logs are on another machine. */
function RecordedOutput({ text }: { text: string }) {
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small">
          As the session's file keeps it; no whole log is on this machine
        </span>
      </header>
      <pre class="terminal recorded" tabindex={0}>
        {visibleOutput(text)}
      </pre>
    </section>
  )
}
