"""Words in which reports speak of activities, where the acts' own names are lawyers' words.

Written from general knowledge of the sectors, by number of Annex I of the climate act, and by id for other
objectives. Compared by stem, so singular and plural are one.
"""

from __future__ import annotations

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    "CCM 1.1": "tree planting, afforestation, new forests, planted trees",
    "CCM 1.2": "reforestation, forest restoration, forest rehabilitation",
    "CCM 1.3": "forest management, managed forests, timber harvesting, forestry",
    "CCM 1.4": "forest conservation, protected forests",
    "CCM 2.1": "wetland restoration, peatland restoration, rewetting, mangrove restoration",
    "CCM 3.1": (
        "wind turbine manufacturing, manufacture of wind turbines, solar panel production, solar module "
        "production, nacelles, rotor blades, heat pump production"
    ),
    "CCM 3.2": "electrolysers, electrolyzers, fuel cell production, hydrogen equipment, fuel cell systems",
    "CCM 3.3": (
        "rolling stock, electric vehicle production, production of electric vehicles, all-electric models, "
        "vehicle production, car production, electric buses, trains and locomotives, electric trucks, "
        "automotive manufacturer, electric cars, electrified models"
    ),
    "CCM 3.4": (
        "battery production, battery cells, cell production, battery manufacturing, gigafactory, battery recycling"
    ),
    "CCM 3.5": (
        "insulation products, building automation products, energy-efficient windows, smart meters, building "
        "control products, heat pump manufacturing, insulation materials production"
    ),
    "CCM 3.6": "low-carbon products, enabling technologies, avoided emissions products, digital industries automation",
    "CCM 3.7": "cement, clinker, cement plant, kiln",
    "CCM 3.8": "aluminium smelter, aluminum smelter, aluminium production, primary aluminium, secondary aluminium",
    "CCM 3.9": (
        "steel production, steelmaking, blast furnace, electric arc furnace, crude steel, direct reduction, "
        "iron and steel, coke oven"
    ),
    "CCM 3.10": "hydrogen production, green hydrogen production, production of hydrogen, electrolysis plant",
    "CCM 3.11": "carbon black",
    "CCM 3.12": "soda ash, sodium carbonate",
    "CCM 3.13": "chlorine production, chlor-alkali",
    "CCM 3.14": (
        "organic chemicals, basic chemicals, steam cracker, olefins, aromatics, styrene, vinyl chloride, "
        "adipic acid, ethylene oxide"
    ),
    "CCM 3.15": "ammonia production, ammonia plant",
    "CCM 3.16": "nitric acid",
    "CCM 3.17": "plastics production, polymers, polyethylene, polypropylene, plastic resins, bioplastics",
    "CCM 3.18": "automotive components, electric drive components, powertrain components, mobility components, e-axle",
    "CCM 3.19": "rail components, train components, rail signalling products",
    "CCM 3.20": (
        "transformers, switchgear, high voltage equipment, electrical equipment production, power cables production"
    ),
    "CCM 3.21": (
        "aircraft manufacturing, aircraft production, aero engines, aircraft engines, engine maintenance, "
        "aircraft maintenance"
    ),
    "CCM 4.1": (
        "solar, solar power, photovoltaic, solar park, solar plant, solar farm, PV system, solar panels, solar energy"
    ),
    "CCM 4.2": "concentrated solar power, solar thermal power plant",
    "CCM 4.3": "wind farm, wind park, wind power, offshore wind, onshore wind, wind energy",
    "CCM 4.4": "tidal power, wave energy, ocean energy",
    "CCM 4.5": "hydropower, hydroelectric, run-of-river, hydro power plant",
    "CCM 4.6": "geothermal power plant, geothermal electricity",
    "CCM 4.7": "electricity from biogas, renewable gas power plant",
    "CCM 4.8": "biomass power plant, electricity from biomass, bioenergy",
    "CCM 4.9": (
        "transmission grid, distribution grid, power grid operator, electricity network, grid expansion, grid "
        "connection"
    ),
    "CCM 4.10": "battery storage, pumped storage, pumped hydro, grid-scale storage, electricity storage",
    "CCM 4.11": "thermal storage, heat storage",
    "CCM 4.12": "hydrogen storage",
    "CCM 4.13": "biofuel production, biogas production, biomethane, biodiesel production, bioethanol",
    "CCM 4.14": "gas network, hydrogen network, hydrogen pipeline, gas grid",
    "CCM 4.15": "district heating network, district cooling network, heating network",
    "CCM 4.16": "heat pump, heat pumps",
    "CCM 4.17": "solar cogeneration",
    "CCM 4.20": "biomass cogeneration, biomass CHP",
    "CCM 4.21": "solar thermal heating",
    "CCM 4.22": "geothermal heat, geothermal plant, geothermal energy, geothermal drilling, deep geothermal",
    "CCM 4.24": "biomass boiler, wood chip heating, pellet heating, heat from biomass",
    "CCM 4.25": "waste heat recovery, waste heat",
    "CCM 4.27": "new nuclear power plant, new reactors",
    "CCM 4.28": "nuclear power plant, nuclear generation, lifetime extension of reactors",
    "CCM 4.29": "gas-fired power plant, combined cycle gas turbine, CCGT, gas power plant",
    "CCM 4.30": "combined heat and power, gas-fired CHP, cogeneration plant",
    "CCM 5.1": "drinking water supply, waterworks, water treatment plant, water abstraction",
    "CCM 5.2": "renewal of water pipes, water leakage reduction, pipe renewal",
    "CCM 5.3": "waste water treatment plant, wastewater treatment plant, sewage treatment, sewer network",
    "CCM 5.5": "waste collection, refuse collection, separate collection",
    "CCM 5.6": "sewage sludge digestion",
    "CCM 5.7": "bio-waste digestion, anaerobic digestion",
    "CCM 5.8": "composting",
    "CCM 5.9": "waste sorting, material recovery facility, recycling plant, recycling of non-hazardous waste",
    "CCM 5.10": "landfill gas",
    "CCM 5.11": "CO2 transport, CO2 pipeline",
    "CCM 5.12": "CO2 storage, carbon storage, geological storage, CCS",
    "CCM 6.1": "passenger rail, passenger trains, railway passengers",
    "CCM 6.2": "rail freight, freight trains",
    "CCM 6.3": "public transport, city buses, bus fleet, trams, metro",
    "CCM 6.4": "bicycles, bike sharing, bike leasing, e-scooters, job bikes",
    "CCM 6.5": (
        "company cars, vehicle fleet, car fleet, fleet vehicles, vehicle leasing, car leasing, leased "
        "vehicles, car sharing, fleet electrification, passenger cars, car rental, electric fleet, light-duty "
        "vehicles"
    ),
    "CCM 6.6": "trucks, truck fleet, road freight, haulage, road haulage, delivery vehicles, lorries",
    "CCM 6.7": "inland passenger vessels, river cruise",
    "CCM 6.8": "inland waterways, barges, inland shipping",
    "CCM 6.10": (
        "shipping, bulk carriers, chartered vessels, cargo vessels, container ships, freight vessels, LNG- "
        "fuelled vessels, maritime transport, sea freight, ocean freight, vessel, voyage, tankers"
    ),
    "CCM 6.11": "ferries, cruise ships, passenger ships",
    "CCM 6.12": "retrofitting of ships, ship retrofit",
    "CCM 6.13": "bicycle lanes, cycle paths, cycling infrastructure, pedestrian infrastructure",
    "CCM 6.14": "rail infrastructure, railway infrastructure, rail electrification, signalling systems, rail network",
    "CCM 6.15": (
        "public charging, fast charging network, charging infrastructure along roads, IONITY, tram lines, "
        "electric road, public charging points, charging network"
    ),
    "CCM 6.16": "port infrastructure, shore power, onshore power supply",
    "CCM 6.17": "airport infrastructure",
    "CCM 6.18": "aircraft leasing, leased aircraft, engine leasing",
    "CCM 6.19": "airline, flights, passenger aircraft fleet, air cargo",
    "CCM 6.20": "ground handling",
    "CCM 7.1": (
        "new construction, new buildings, newly built, construction projects, development projects, new "
        "developments, distribution centre construction, apartments completed, new apartments, building new, "
        "under construction, residential construction"
    ),
    "CCM 7.2": (
        "renovation, refurbishment, energy-efficient refurbishment, retrofits, deep retrofit, building upgrades"
    ),
    "CCM 7.3": (
        "LED lighting, HVAC, lighting upgrades, energy efficiency measures, insulation, window replacement, "
        "lighting retrofit, energy-efficient lighting, HVAC replacement, heating replacement, air "
        "conditioning, boiler replacement, roof replacement"
    ),
    "CCM 7.4": (
        "charging stations, charging points, EV chargers, EV charging, wallboxes, electric vehicle charging, "
        "charging infrastructure, charge points"
    ),
    "CCM 7.5": (
        "smart meters, building management systems, building automation, energy monitoring, sub-metering, "
        "metering devices, smart thermostats"
    ),
    "CCM 7.6": (
        "rooftop solar, solar panels, photovoltaic systems, PV systems, solar roofs, tenant electricity, "
        "solar installation, heat pumps"
    ),
    "CCM 7.7": (
        "real estate portfolio, property portfolio, our properties, investment properties, rental housing, "
        "residential portfolio, building portfolio, tenants, gross leasable area, real estate, owned "
        "buildings, leased buildings, residential units, properties, office buildings, green building "
        "certification"
    ),
    "CCM 8.1": "data centre, data center, cloud hosting, colocation, server rooms",
    "CCM 8.2": "software for emission reductions, data-driven solutions for GHG emissions, energy management software",
    "CCM 9.1": (
        "research and development, low-emission technologies, innovation projects, technology readiness "
        "level, propulsion concepts"
    ),
    "CCM 9.2": "direct air capture",
    "CCM 9.3": (
        "energy audits, energy consulting, energy performance contracting, energy services, building energy advice"
    ),
    "CCA 10.1": (
        "non-life insurance, property insurance, catastrophe insurance, climate perils, underwriting of climate"
    ),
    "CCA 10.2": "reinsurance",
    "CCA 11.1": "schools, university, vocational education",
    "CCA 12.1": "nursing homes, care homes, residential care",
    "CCA 14.2": "flood protection, flood defences",
    "CE 1.1": "plastic packaging, recycled plastic packaging",
    "CE 1.2": (
        "electronic equipment production, consumer electronics, electrical appliances production, household appliances"
    ),
    "CE 2.3": "collection of hazardous waste",
    "CE 2.6": "dismantling of vehicles, end-of-life vehicles",
    "CE 2.7": "sorting and recovery of waste",
    "CE 3.2": "circular renovation",
    "CE 3.3": "demolition",
    "CE 3.4": "road maintenance, asphalt",
    "CE 3.5": "concrete, ready-mix concrete",
    "CE 4.1": "predictive maintenance software, digital product passport, remote monitoring solutions",
    "CE 5.1": (
        "repair services, refurbished products, remanufacturing, remanufactured, maintenance repair and overhaul"
    ),
    "CE 5.2": "spare parts",
    "CE 5.4": "second-hand, used products, used vehicles",
    "CE 5.5": "product-as-a-service, rental models, subscription model",
    "CE 5.6": "resale platform, second-hand marketplace",
    "PPC 1.1": "active pharmaceutical ingredients, API production, active ingredients",
    "PPC 1.2": "medicines, medicinal products, pharmaceutical products, drug manufacturing",
    "PPC 2.4": "contaminated sites, soil remediation, groundwater remediation",
    "BIO 1.1": "habitat conservation, nature conservation, biodiversity conservation projects",
    "BIO 2.1": "hotels, resorts, campsites, holiday accommodation",
    "WTR 2.2": "urban waste water",
    "WTR 2.3": "sustainable drainage, stormwater retention",
}
"""Phrases by activity, with commas between them."""
