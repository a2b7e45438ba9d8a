import { isStepLanguage, type StepError, type StepLanguage } from '../model/plan-step.ts'
import { isStep } from './near-step.ts'
import type { ParsedFence } from './parse.ts'

const LONGER_FENCE = 'use a longer fence, such as ````, around a script that has a line ```'

/**
 * Reports fences that end in the middle of a script, at a line ``` of it, so that only half of it would run; and those
 * that are not closed and take in what follows. `fences` are all of a plan with steps.
 */
export function cutSteps(fences: readonly ParsedFence[]): StepError[] {
  return fences.flatMap((fence, index): StepError[] => {
    const { line } = fence
    const language = (fence.lang ?? '').toLowerCase()
    const open = isStep(fence) && isStepLanguage(language) ? openAtEnd(fence, language) : null
    const isFollowedByBare = fences[index + 1]?.lang === null
    if (open?.is === 'heredoc')
      return [
        {
          line,
          message: `the here-document ${open.mark} does not end in this step: ${LONGER_FENCE}`,
        },
      ]
    if (!fence.closed)
      return [{ line, message: `this code block has no closing fence: ${LONGER_FENCE}` }]
    return open && isFollowedByBare
      ? [{ line, message: `the step ends within ${open.mark} quotes: ${LONGER_FENCE}` }]
      : []
  })
}

interface Open {
  is: 'heredoc' | 'quote'
  mark: string
}

/** What of a script is still open at its end. */
function openAtEnd({ value }: ParsedFence, language: StepLanguage): Open | null {
  const script = value.replace(/\r\n?/g, '\n')
  return language === 'js' ? openTemplate(script) : openInShell(script)
}

/** What surrounds a place of a shell script. Parentheses may hold quotes, and quotes may hold `$(…)`. */
type Context = 'command' | 'parentheses' | 'quote' | 'arithmetic'

function openInShell(script: string): Open | null {
  const contexts: Context[] = ['command']
  const heredocs: { mark: string; isIndented: boolean }[] = []
  for (let at = 0; at < script.length; at++) {
    const context = contexts.at(-1)!
    const rest = script.slice(at, at + 3)
    const character = script[at]!
    if (character === '\\') at++
    else if (context === 'quote') {
      if (character === '"') contexts.pop()
      else if (rest.startsWith('$(')) at += enter(rest, 1)
    } else if (context === 'arithmetic') {
      if (rest.startsWith('))')) {
        contexts.pop()
        at++
      }
    } else if (character === '"') contexts.push('quote')
    else if (character === "'") {
      const end = endOfQuote(script, at)
      if (end < 0) return { is: 'quote', mark: "'" }
      at = end
    } else if (character === '#' && /^$|[\s;&|()]/.test(script[at - 1] ?? '')) {
      at = lineEnd(script, at) - 1
    } else if (character === '(') at += enter(rest, 0)
    else if (character === ')' && context === 'parentheses') contexts.pop()
    else if (rest === '<<<') at += 2
    else if (rest.startsWith('<<')) {
      const found =
        /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s\d|&;()<>'"\\`$][^\s|&;()<>'"\\`$]*))/.exec(
          script.slice(at, at + 200),
        )
      if (!found) continue
      const [all, dash, ...marks] = found
      heredocs.push({ mark: marks.join(''), isIndented: dash === '-' })
      at += all.length - 1
    } else if (character === '\n') {
      for (const { mark, isIndented } of heredocs.splice(0)) {
        const end = endOfHeredoc(script, at, mark, isIndented)
        if (end < 0) return { is: 'heredoc', mark }
        at = end
      }
    }
  }
  if (heredocs[0]) return { is: 'heredoc', mark: heredocs[0].mark }
  return contexts.includes('quote') ? { is: 'quote', mark: '"' } : null

  /** Enters `((`, or `(` behind as many characters; returns how many more to skip. */
  function enter(rest: string, before: number): number {
    const isArithmetic = rest[before + 1] === '('
    contexts.push(isArithmetic ? 'arithmetic' : 'parentheses')
    return before + (isArithmetic ? 1 : 0)
  }
}

/** Of '…', and of $'…', where a backslash hides a quote. */
function endOfQuote(script: string, at: number): number {
  if (script[at - 1] !== '$') return script.indexOf("'", at + 1)
  for (let end = at + 1; end < script.length; end++) {
    if (script[end] === '\\') end++
    else if (script[end] === "'") return end
  }
  return -1
}

/** Returns the end of the line with the mark, after the line that ends at `from`; -1 without one. */
function endOfHeredoc(script: string, from: number, mark: string, isIndented: boolean): number {
  for (let start = from + 1; start <= script.length; ) {
    const end = lineEnd(script, start)
    const line = script.slice(start, end)
    // inside $(…), the parenthesis may follow the mark
    const text = isIndented ? line.replace(/^\t+/, '') : line
    if (text === mark || text.replace(/(?<![)"\s])[)"\s]+$/, '') === mark) {
      return text === mark ? end - 1 : start + line.indexOf(mark) + mark.length - 1
    }
    start = end + 1
  }
  return -1
}

function lineEnd(script: string, from: number): number {
  const end = script.indexOf('\n', from)
  return end < 0 ? script.length : end
}

/** A template literal. Strings, comments and regular expressions count as code, so this is no proof. */
function openTemplate(script: string): Open | null {
  const marks = script.replace(/\\./gs, '').match(/`/g)?.length ?? 0
  return marks % 2 === 1 ? { is: 'quote', mark: '`' } : null
}
