import { numberOption, runCommand } from './command.ts';

const help = `Checks a deployment and prints for each problem what to do. It changes nothing, and ends with exit code 1 if there is a problem.

  npm run doctor                                       with the settings of the services in the environment
  npm run doctor -- https://flags.example.org http://features:9090    asks the readiness of these addresses as well

  --backups FOLDER   the folder of the backups: the newest complete one must be of the last day
  --free-gib N       what must be free on the disk of a PostgreSQL on this machine (default 2)

It checks every service whose <SERVICE>_DATABASE_URL (or its _FILE) is set, or without any the PostgreSQL of npm start, in BUNTING_DATA_DIR, else
.bunting/; the read replica where FEATURES_READ_DATABASE_URL is set, NATS where BUS_URL is, and Meilisearch where MEILI_URL is.`;

await runCommand(
  {
    help,
    options: {
      backups: { type: 'string' },
      'free-gib': { type: 'string', default: '2' },
    },
    takesArguments: true,
  },
  async (values, positionals) => {
    const { backups, 'free-gib': freeGib } = values;
    const minFreeGib = numberOption('free-gib', freeGib);
    // All services come with it.
    const { diagnose } = await import('./diagnosis/diagnose.ts');
    const findings = await diagnose(process.env, { addresses: positionals, minFreeGib, backups });
    for (const { component, text, isProblem } of findings)
      console.log(`${isProblem ? 'PROBLEM' : 'ok     '} ${component}: ${text}`);
    const problems = findings.filter(({ isProblem }) => isProblem).length;
    const summary = problems === 0 ? 'No problem was' : problems === 1 ? '1 problem was' : `${problems} problems were`;
    console.log(`${summary} found.`);
    return problems === 0 ? 0 : 1;
  },
);
