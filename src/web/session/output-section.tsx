import { sizeText } from '../../model/amounts.ts'
import { classesOf } from '../../rendering/ansi/look.ts'
import { visibleOutput } from '../../rendering/hidden-characters.ts'
import { rangesText } from '../../rendering/live-log/byte-ranges.ts'
import { artifactFile } from '../shell/addresses.ts'
import { TextBox } from '../shell/text-box.tsx'
import type { SessionPageData } from './session-data.ts'
import type { OutputLine, StepOutput } from './session-output.ts'

/**
 * The output of the steps, as in a terminal. Once the page is loaded client/output.ts owns what is in #terminal: it
 * adds what comes, and refreshes the page without this text from then on.
 */
export function OutputSection({ data }: { data: SessionPageData }) {
  const { output, json, session } = data
  const hasLogs = output.some(({ artifact, isMissing }) => artifact !== null && !isMissing)
  if (!hasLogs && json.output !== '') return <RecordedOutput text={json.output} />
  if (output.length === 0) return null
  const base = artifactFile(session, '')
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small error-legend">
          Lines marked <span class="error-sign">err</span> came from standard error
        </span>
      </header>
      <div class="terminal-frame">
        {/* biome-ignore lint/a11y/useSemanticElements: a region of the page that scrolls */}
        <div
          class="terminal"
          id="terminal"
          data-keep
          role="region"
          aria-label="Output of the steps"
          tabindex={0}
        >
          {output.map((step) => (
            <StepPane step={step} base={base} note={noteOn(step, data.query.withOutput)} />
          ))}
        </div>
        <button type="button" class="to-end" id="to-end" hidden data-keep>
          Jump to the end
        </button>
      </div>
    </section>
  )
}

function StepPane({ step, base, note }: { step: StepOutput; base: string; note: string }) {
  const { key, id, artifact, isFinished, isSilent, from, to, lines, stderr, isMidLine } = step
  const size = isFinished ? ` (${sizeText(to)})` : ''
  const log = {
    artifact,
    from,
    to,
    stderr: rangesText(stderr),
    isFinished,
    isMidLine,
    isSilent,
  }
  return (
    <section class="pane" id={`pane-${key}`} data-log={JSON.stringify(log)}>
      <header>
        <h3>{id}</h3>
        {artifact !== null && !step.isMissing && (
          <a href={base + artifact} target="_blank" rel="noreferrer">
            Show full log{size}
            <span class="visually-hidden"> of {id}</span>
          </a>
        )}
        {note !== '' && <span class="pane-note">{note}</span>}
      </header>
      <p class="left-out" hidden={from === 0 || lines.length === 0}>
        Earlier output is in the full log.
      </p>
      <pre class="lines">
        {lines.map((line) => (
          <Line {...line} />
        ))}
      </pre>
    </section>
  )
}

function noteOn(step: StepOutput, withText: boolean): string {
  const { artifact, isMissing, isFinished, to, lines } = step
  if (isMissing) return 'The log is not on this machine.'
  if (artifact === null) return 'No output.'
  return withText && isFinished && to > 0 && lines.length === 0 ? 'Not shown here.' : ''
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

/** The part that the session's file keeps, if the logs are on another machine. */
function RecordedOutput({ text }: { text: string }) {
  return (
    <section class="card output" id="output" aria-labelledby="output-title">
      <header>
        <h2 id="output-title">Output</h2>
        <span class="muted small">
          Only what the session file keeps; the full logs are not on this machine
        </span>
      </header>
      <TextBox label="Output of the steps" class="terminal recorded">
        {visibleOutput(text)}
      </TextBox>
    </section>
  )
}
