import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from '../platform/progress.ts';
import type { Terminal } from './terminal.ts';

const FRAMES_PER_SECOND = 5;

export function showsProgress({ streams, json }: Terminal): boolean {
  return streams.stderr.isTTY === true && !json;
}

/** Runs long work with a bar on standard error. `label`: `Aggregating`; `unit`: `servers`. */
export async function withProgress<T>(
  terminal: Terminal,
  label: string,
  unit: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  if (!showsProgress(terminal)) return work(() => undefined);
  const bar = new SingleBar(
    {
      format: `${label} {bar} {percentage}% | {value} of {total} ${unit} | {eta_formatted} left`,
      stream: terminal.streams.stderr,
      fps: FRAMES_PER_SECOND,
      hideCursor: true,
      clearOnComplete: true,
      etaBuffer: 100,
    },
    Presets.shades_classic,
  );
  let started = false;
  try {
    return await work((done, total) => {
      if (!started) bar.start(total, done);
      started = true;
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}
