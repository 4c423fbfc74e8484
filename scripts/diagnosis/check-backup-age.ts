import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readManifest } from '../backup/manifest.ts';
import { type Finding, passedCheck, failedCheck, reasonOf } from './finding.ts';

/** A day, and two more hours, since a nightly backup may take longer than the one before. */
const maxAgeHours = 26;
const hourMs = 3_600_000;

/** Checks whether a folder has a complete backup of the last day. It does not read the backup itself, as `backup:verify` does. */
export const checkBackupAge = async (folder: string): Promise<Finding> => {
  const name = `backups in ${folder}`;
  const advice = 'Run npm run backup, and look why cron did not.';
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => path.join(folder, entry.name));
    const manifests = await Promise.allSettled(folders.map(readManifest));
    const times = manifests.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [Date.parse(outcome.value.at)] : [],
    );
    if (times.length === 0) return failedCheck(name, `none is complete. ${advice}`);
    const hours = (Date.now() - Math.max(...times)) / hourMs;
    const age = `the newest of ${times.length} is ${hours.toFixed(1)} hours old`;
    return hours > maxAgeHours ? failedCheck(name, `${age}. ${advice}`) : passedCheck(name, age);
  } catch (error) {
    return failedCheck(name, `cannot be read (${reasonOf(error)}). Correct the folder.`);
  }
};
