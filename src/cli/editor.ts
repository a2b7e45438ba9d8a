import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError } from '../model/app-error.ts'

/**
 * Opens a file in $VISUAL or $EDITOR and waits until the editor ends. As in git, the variable is a shell command that
 * may have arguments, and Ctrl-C goes only to the editor. Throws `bad_request` if it fails, or if there is neither a variable
 * nor a terminal.
 */
export async function editFile(path: string, signal: AbortSignal): Promise<void> {
  const named = process.env.VISUAL || process.env.EDITOR
  if (!named && !(process.stdin.isTTY && process.stdout.isTTY)) {
    const message =
      'The text is missing, and the editor (vi) needs a terminal. --help says how to give the text.'
    throw new AppError('bad_request', message)
  }
  const editor = named || 'vi'
  const hearAgain = ignoreKeys()
  try {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, path], { stdio: 'inherit' })
    const stop = () => void child.kill()
    signal.addEventListener('abort', stop)
    const [code, by] = await once(child, 'close') // wait even when aborted: the editor may save before it ends
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (code === 0) return
    const how = by === null ? `ended with exit ${code}` : `was stopped by ${by}`
    throw new AppError(
      'bad_request',
      `The editor (${editor}) ${how}. Set EDITOR to one that is installed, then try again.`,
    )
  } finally {
    hearAgain()
  }
}

/** Ignores the signals of the keyboard in this process meanwhile; the terminal sends them to every process. */
function ignoreKeys(): () => void {
  const undo = (['SIGINT', 'SIGQUIT'] as const).map((name) => {
    const listeners = process.listeners(name)
    process.removeAllListeners(name).on(name, ignore)
    return () => {
      process.off(name, ignore)
      for (const listener of listeners) process.on(name, listener)
    }
  })
  return () => {
    for (const each of undo) each()
  }
}

function ignore(): void {}
