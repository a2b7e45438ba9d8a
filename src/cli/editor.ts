import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError } from '../model/app-error.ts'

/**
 * Has a person edit a file, with $VISUAL or $EDITOR, and waits for the end of that. As git does, the
 * variable is a command for the shell, which may have arguments, and Ctrl-C is the editor's alone.
 */
export async function editFile(path: string, signal: AbortSignal): Promise<void> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi'
  const hearAgain = ignoreKeys()
  try {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, path], { stdio: 'inherit' })
    const stop = () => void child.kill()
    signal.addEventListener('abort', stop)
    const [code, by] = await once(child, 'close') // also when stopped: it may save before it ends
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (code === 0) return
    const how = by === null ? `ended with exit ${code}` : `was ended by ${by}`
    throw new AppError(
      'bad_request',
      `The editor (${editor}) ${how}. Set EDITOR to one that is installed, then try again.`,
    )
  } finally {
    hearAgain()
  }
}

/** What the keyboard sends to every process of the terminal does nothing to this one meanwhile. */
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
