/** Hears how far long work is: `done` of `total` things. Called often; must not throw. */
export type Progress = (done: number, total: number) => void;
