-- Who watches an organization is told of silences that began or ended within the last minutes.
create index environment_silences_noticed_at on environment_silences (org_id, noticed_at) where noticed_at is not null;
create index environment_silences_ended_at on environment_silences (org_id, ended_at) where ended_at is not null;
