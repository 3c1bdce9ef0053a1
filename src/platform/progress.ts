/** Reports the progress of long work: `done` of `total` items. It is called often and must not throw. */
export type Progress = (done: number, total: number) => void;
